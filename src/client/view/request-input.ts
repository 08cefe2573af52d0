// The tool's input on a card: everything the card does not verifiably show elsewhere.

import { isObject } from "../../base/json.ts";
import type { RequestPayload } from "../../protocol/requests.ts";
import { trimLastNewlines } from "./lines.ts";

/** Fields that are shown separately, under the same name. */
const SHOWN_APART = ["command", "cwd", "plan"] as const;
/** Fields that name the file of a change. */
const PATHS = new Set(["file_path", "filePath", "notebook_path", "path"]);
/** Fields that a diff shows, and on which side. */
const IN_DIFF: Readonly<Record<string, "-" | "+">> = {
  old_string: "-",
  oldString: "-",
  new_string: "+",
  newString: "+",
  content: "+",
  new_source: "+",
};

export function formatInput(payload: RequestPayload): string | undefined {
  const { input, questions } = payload;
  if (input === undefined || questions !== undefined) return undefined;
  if (!isObject(input)) return JSON.stringify(input, undefined, 2);
  const rest = Object.entries(input).filter(([key, value]) => !isShown(payload, key, value));
  return formatEntries(Object.fromEntries(rest));
}

/** Why the agent asks: in its own words, or what it says that its command is for. */
export function getReason({ reason, command, input }: RequestPayload): string | undefined {
  if (reason !== undefined || command === undefined || !isObject(input)) return reason;
  const said = input["description"];
  return typeof said === "string" ? said : undefined;
}

/** Strings unquoted, so that line breaks are readable; the rest as JSON. */
export function formatEntries(entries: Record<string, unknown>): string {
  return Object.entries(entries)
    .map(([key, value]) => `${key}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join("\n");
}

/** Notes newlines added or removed at the end, unless the diff shows them. */
export function listNewlineNotes({ input, changes = [] }: RequestPayload): string[] {
  if (!isObject(input) || changes.some(({ diff }) => diff !== undefined && /^\\/m.test(diff))) return [];
  const edits = [input, ...(Array.isArray(input["edits"]) ? input["edits"] : [])].filter(isObject);
  return edits.flatMap(({ old_string: before, new_string: after }) => {
    if (typeof before !== "string" || typeof after !== "string") return [];
    if (trimLastNewlines(before) !== trimLastNewlines(after)) return [];
    const count = after.length - before.length;
    if (count === 0) return [];
    return [`(${Math.abs(count)} × newline at the end ${count > 0 ? "added" : "removed"})`];
  });
}

/** Compares name and value, never the value alone. */
function isShown(payload: RequestPayload, key: string, value: unknown): boolean {
  const { changes = [] } = payload;
  if (SHOWN_APART.some((name) => name === key && payload[name] === value)) return true;
  if (key === "description") return value === getReason(payload);
  if (PATHS.has(key)) return changes.some(({ path }) => path === value);
  // The default.
  if (key === "replace_all" || key === "replaceAll") return value === false && changes.length > 0;
  if (key === "edits" && Array.isArray(value)) {
    const isEditShown = (edit: unknown): boolean =>
      isObject(edit) && Object.entries(edit).every(([name, field]) => isShown(payload, name, field));
    return value.every(isEditShown);
  }
  const sign = Object.hasOwn(IN_DIFF, key) ? IN_DIFF[key] : undefined;
  if (sign === undefined || typeof value !== "string") return false;
  return changes.some(({ diff = "" }) => readSide(diff, sign).includes(value.replace(/\n$/, "")));
}

/** The text before (`-`) or after (`+`) the change, as far as the diff shows it. */
function readSide(diff: string, sign: "-" | "+"): string {
  return diff
    .split("\n")
    .map((line) => {
      if (line.startsWith(sign) || line.startsWith(" ")) return line.slice(1);
      return line.startsWith("@@") ? "\0" : undefined; // text does not span hunks
    })
    .filter((line) => line !== undefined)
    .join("\n");
}
