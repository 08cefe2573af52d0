// What a tool changes in files, from the diffs (whole old and new text) in the content of a tool call. Pure.
import type { JsonObject } from "../../base/json.ts";
import type { RequestPayload } from "../../protocol/requests.ts";
import { objectOf, objectsOf, stringOf, textOf } from "../values.ts";

export type Change = NonNullable<RequestPayload["changes"]>[number];

const CONTEXT = 3;
const NO_NEWLINE = "\\ No newline at end of file";

/** `isWhole`: the tool writes whole files, so that what was there before goes. */
export function changesIn(content: unknown, isWhole = false): Change[] {
  return objectsOf(content).flatMap((entry) => {
    const path = textOf(entry["path"]);
    if (entry["type"] !== "diff" || path === undefined) return [];
    const [before, after] = [stringOf(entry["oldText"]), stringOf(entry["newText"])];
    return [
      {
        path,
        kind: isWhole ? wholeKind(kindOf(entry, before, after)) : kindOf(entry, before, after),
        diff: toDiff(before ?? "", after ?? ""),
      },
    ];
  });
}

function kindOf(entry: JsonObject, before: string | undefined, after: string | undefined): Change["kind"] {
  const told = objectOf(entry["_meta"])["kind"];
  if (told === "add" || told === "delete" || told === "update" || told === "overwrite") return told;
  if (before === undefined) return "add";
  return after === undefined ? "delete" : "update";
}

function wholeKind(kind: Change["kind"]): Change["kind"] {
  return kind === "update" ? "overwrite" : kind;
}

/** One hunk from the first to the last line that differs. */
export function toDiff(before: string, after: string): string {
  const [old, now] = [linesOf(before), linesOf(after)];
  const least = Math.min(old.length, now.length);
  let head = 0;
  while (head < least && old[head] === now[head]) head += 1;
  let tail = 0;
  while (tail < least - head && old.at(-1 - tail) === now.at(-1 - tail)) tail += 1;
  if (head === old.length && head === now.length) return "";
  const from = Math.max(0, head - CONTEXT);
  const behind = Math.min(tail, CONTEXT);
  const [oldEnd, newEnd] = [old.length - tail, now.length - tail];
  return [
    `@@ -${rangeOf(from, oldEnd + behind)} +${rangeOf(from, newEnd + behind)} @@`,
    ...marked(" ", old.slice(from, head)),
    ...marked("-", old.slice(head, oldEnd)),
    ...marked("+", now.slice(head, newEnd)),
    ...marked(" ", old.slice(oldEnd, oldEnd + behind)),
  ].join("\n");
}

function rangeOf(from: number, to: number): string {
  return `${to === from ? from : from + 1},${to - from}`;
}

function marked(sign: string, lines: readonly string[]): string[] {
  return lines.map((line) => `${sign}${line}`);
}

/** A newline at the end ends the last line; where it is missing, the line says so. */
function linesOf(text: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  if (text.endsWith("\n")) return lines.slice(0, -1);
  return [...lines.slice(0, -1), `${lines.at(-1)}\n${NO_NEWLINE}`];
}
