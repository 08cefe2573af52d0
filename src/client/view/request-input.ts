// The tool's input as a person reads it: all of it but for what verifiably stands in the same request already.

import type { RequestPayload } from "../../protocol/requests.ts";
import { withoutLastNewlines } from "./lines.ts";

/** Longer texts that a diff above shows are only named. */
const MAX_BESIDE_DIFF = 200;
/** Fields that are shown by themselves, under the same name. */
const SHOWN_APART = ["command", "cwd", "plan"] as const;
/** Fields that a diff shows, and on which side of it. */
const IN_DIFF: Readonly<Record<string, "-" | "+">> = {
  old_string: "-",
  new_string: "+",
  content: "+",
  new_source: "+",
};

export function inputText(payload: RequestPayload): string | undefined {
  const { input, questions } = payload;
  if (input === undefined || questions !== undefined) return undefined;
  if (!isObject(input)) return JSON.stringify(input, undefined, 2);
  const rest = Object.entries(input)
    .filter(([key, value]) => !SHOWN_APART.some((name) => name === key && payload[name] === value))
    .map(([key, value]) => [
      key,
      isInDiff(payload, key, value) ? `(${value.length} characters, above)` : value,
    ]);
  return entriesText(Object.fromEntries(rest));
}

/** Texts as they are, so that line breaks can be read; the rest as JSON. */
export function entriesText(entries: Record<string, unknown> | undefined): string | undefined {
  if (entries === undefined) return undefined;
  return Object.entries(entries)
    .map(([key, value]) => `${key}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join("\n");
}

/** A newline that comes or goes at the end is in no line of a diff; said in words, unless the diff does. */
export function newlineNotes({ input, changes = [] }: RequestPayload): string[] {
  if (!isObject(input) || changes.some(({ diff }) => diff !== undefined && /^\\/m.test(diff))) return [];
  const edits = [input, ...(Array.isArray(input["edits"]) ? input["edits"] : [])].filter(isObject);
  return edits.flatMap(({ old_string: before, new_string: after }) => {
    if (typeof before !== "string" || typeof after !== "string") return [];
    if (withoutLastNewlines(before) !== withoutLastNewlines(after)) return [];
    const count = after.length - before.length;
    if (count === 0) return [];
    return [`(${Math.abs(count)} × newline at the end ${count > 0 ? "added" : "removed"})`];
  });
}

function isInDiff({ changes = [] }: RequestPayload, key: string, value: unknown): value is string {
  const sign = Object.hasOwn(IN_DIFF, key) ? IN_DIFF[key] : undefined;
  if (sign === undefined || typeof value !== "string") return false;
  if (value.length <= MAX_BESIDE_DIFF && !value.includes("\n")) return false;
  return changes.some(({ diff = "" }) => sideOf(diff, sign).includes(value.replace(/\n$/, "")));
}

/** The text before (`-`) or after (`+`) the change, as far as the diff has it. */
function sideOf(diff: string, sign: "-" | "+"): string {
  return diff
    .split("\n")
    .map((line) => {
      if (line.startsWith(sign) || line.startsWith(" ")) return line.slice(1);
      return line.startsWith("@@") ? "\0" : undefined; // no text goes across hunks
    })
    .filter((line) => line !== undefined)
    .join("\n");
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
