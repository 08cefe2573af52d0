// Names typed characters like keys, so that the key table can contain letters.
import type { Input } from "../screen-types.ts";

/** Returns "" for a paste: it is never a key. */
export function toChord(input: Input): string {
  if (input.kind === "key") return input.chord;
  if (input.kind === "paste") return "";
  if (input.text === " ") return "space";
  return /^\p{Lu}$/u.test(input.text) ? `shift-${input.text.toLowerCase()}` : input.text;
}
