// What a tool call changes in files, from its input: the tools of all agents, known by the shape of what they are
// called with. Diffs come out as hunks whose lines begin with a blank, "-" or "+". No file is read, so mostly without
// line numbers.
import { isObject, type JsonObject } from "../../base/json.ts";
import type { FileChange } from "../../protocol/requests.ts";
import { patchChanges } from "./patch.ts";
import { objectOf, objectsOf, optional, stringOf, wordOf } from "./values.ts";

const WRITES = /write|create/i;
const PATCHES = /patch/i;

/** Undefined: none that we can tell. */
export function changesIn(name: string, input: unknown): readonly FileChange[] | undefined {
  if (typeof input === "string") return some(PATCHES.test(name) ? patchChanges(input) : []);
  if (!isObject(input)) return undefined;
  const listed = toChanges(input["changes"]);
  if (listed !== undefined) return listed;
  const patch = wordOf(input["patch"]) ?? wordOf(input["patchText"]) ?? wordOf(input["input"]);
  if (patch !== undefined && PATCHES.test(name)) return some(patchChanges(patch));
  const path =
    wordOf(input["file_path"]) ??
    wordOf(input["filePath"]) ??
    wordOf(input["notebook_path"]) ??
    wordOf(input["path"]);
  if (path === undefined) return undefined;
  return some(ofFile(name, path, input));
}

/** A list of changes as requests and tool calls have it; the diff of a new file may be the file itself. */
export function toChanges(value: unknown): readonly FileChange[] | undefined {
  const changes = objectsOf(value).flatMap((change): FileChange[] => {
    const path = wordOf(change["path"]);
    if (path === undefined) return [];
    const told = stringOf(change["kind"]) ?? stringOf(objectOf(change["kind"])["type"]);
    const kind = told === "add" || told === "delete" ? told : "update";
    const move_path = wordOf(change["move_path"]) ?? wordOf(objectOf(change["kind"])["move_path"]);
    const diff = stringOf(change["diff"]);
    return [
      {
        path,
        kind,
        ...optional("diff", diff === undefined ? undefined : asHunk(kind, diff)),
        ...optional("move_path", move_path),
      },
    ];
  });
  return some(changes);
}

function ofFile(name: string, path: string, input: JsonObject): FileChange[] {
  const edits = objectsOf(input["edits"]);
  const hunks = (edits.length > 0 ? edits : [input]).flatMap(editHunk);
  if (hunks.length > 0) {
    const isNew = stringOf(input["old_string"]) === "" || stringOf(input["oldString"]) === "";
    return [{ path, kind: isNew ? "add" : "update", diff: hunks.join("\n") }];
  }
  const content = stringOf(input["content"]);
  if (content !== undefined && WRITES.test(name))
    return [{ path, kind: "update", diff: ["@@ the whole file @@", ...marked("+", content)].join("\n") }];
  const cell = stringOf(input["new_source"]);
  if (cell !== undefined)
    return [{ path, kind: "update", diff: ["@@ a cell @@", ...marked("+", cell)].join("\n") }];
  return [];
}

function editHunk(edit: JsonObject): string[] {
  const before = stringOf(edit["old_string"]) ?? stringOf(edit["oldString"]);
  const after = stringOf(edit["new_string"]) ?? stringOf(edit["newString"]);
  if (before === undefined || after === undefined) return [];
  const isEverywhere = edit["replace_all"] === true || edit["replaceAll"] === true;
  return [hunk(before, after, isEverywhere ? "@@ every occurrence @@" : "@@")];
}

/** One hunk: what both begin and end with stands around what differs. */
function hunk(before: string, after: string, head: string): string {
  const [old, now] = [linesOf(before), linesOf(after)];
  const least = Math.min(old.length, now.length);
  let same = 0;
  while (same < least && old[same] === now[same]) same += 1;
  let tail = 0;
  while (tail < least - same && old.at(-1 - tail) === now.at(-1 - tail)) tail += 1;
  return [
    head,
    ...old.slice(0, same).map((line) => ` ${line}`),
    ...old.slice(same, old.length - tail).map((line) => `-${line}`),
    ...now.slice(same, now.length - tail).map((line) => `+${line}`),
    ...old.slice(old.length - tail).map((line) => ` ${line}`),
  ].join("\n");
}

function asHunk(kind: FileChange["kind"], diff: string): string {
  const isDiff = /^(?:@@|diff --git |--- |\*\*\* )/.test(diff);
  if (isDiff || kind === "update") return diff;
  return ["@@ the whole file @@", ...marked(kind === "add" ? "+" : "-", diff)].join("\n");
}

function marked(sign: string, text: string): string[] {
  return linesOf(text).map((line) => sign + line);
}

/** A newline at the end ends the last line; it does not begin another. */
function linesOf(text: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  return text.endsWith("\n") ? lines.slice(0, -1) : lines;
}

function some(changes: FileChange[]): readonly FileChange[] | undefined {
  return changes.length === 0 ? undefined : changes;
}
