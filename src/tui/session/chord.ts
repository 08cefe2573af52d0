// The name of what was typed, so that a letter can stand in the table of keys like any other key.
import type { Input } from "../screen-types.ts";

/** "" for a paste: that is no key. */
export function chordOf(input: Input): string {
  if (input.kind === "key") return input.chord;
  if (input.kind === "paste") return "";
  if (input.text === " ") return "space";
  return /^\p{Lu}$/u.test(input.text) ? `shift-${input.text.toLowerCase()}` : input.text;
}
