// File changes of a tool call, from its input, for the tools of all agents (recognized by the input's shape). No file is
// read, so diffs mostly have no line numbers.
import { diffLines, endLastLine, signLines } from "../../base/diff.ts";
import { isObject, type JsonObject } from "../../base/json.ts";
import { asObject, asObjects, asString, asText, defined } from "../../base/values.ts";
import type { FileChange } from "../../protocol/requests.ts";

const WRITES = /write|create/i;
const PATCHES = /patch/i;

/** Undefined if none are known. */
export function findChanges(name: string, input: unknown): readonly FileChange[] | undefined {
  if (typeof input === "string") return orUndefined(PATCHES.test(name) ? parsePatch(input) : []);
  if (!isObject(input)) return undefined;
  const listed = toChanges(input["changes"]);
  if (listed !== undefined) return listed;
  const patch = asText(input["patch"]) ?? asText(input["patchText"]) ?? asText(input["input"]);
  if (patch !== undefined && PATCHES.test(name)) return orUndefined(parsePatch(patch));
  const path =
    asText(input["file_path"]) ??
    asText(input["filePath"]) ??
    asText(input["notebook_path"]) ??
    asText(input["path"]);
  if (path === undefined) return undefined;
  return orUndefined(toFileChanges(name, path, input));
}

/** For the `changes` of requests and tool calls. The diff of a new file may be its content. */
export function toChanges(value: unknown): readonly FileChange[] | undefined {
  const changes = asObjects(value).flatMap((change): FileChange[] => {
    const path = asText(change["path"]);
    if (path === undefined) return [];
    const given = asString(change["kind"]) ?? asString(asObject(change["kind"])["type"]);
    const kind = given === "add" || given === "delete" ? given : "update";
    const move_path = asText(change["move_path"]) ?? asText(asObject(change["kind"])["move_path"]);
    const diff = asString(change["diff"]);
    return [
      {
        path,
        kind,
        ...defined({ diff: diff === undefined ? undefined : toHunk(kind, diff), move_path }),
      },
    ];
  });
  return orUndefined(changes);
}

function toFileChanges(name: string, path: string, input: JsonObject): FileChange[] {
  const edits = asObjects(input["edits"]);
  const hunks = (edits.length > 0 ? edits : [input]).flatMap(editHunk);
  if (hunks.length > 0) {
    const isNew = asString(input["old_string"]) === "" || asString(input["oldString"]) === "";
    return [{ path, kind: isNew ? "add" : "update", diff: hunks.join("\n") }];
  }
  const content = asString(input["content"]);
  if (content !== undefined && WRITES.test(name))
    return [{ path, kind: "update", diff: ["@@ the whole file @@", ...signLines("+", content)].join("\n") }];
  const cell = asString(input["new_source"]);
  if (cell !== undefined)
    return [{ path, kind: "update", diff: ["@@ a cell @@", ...signLines("+", cell)].join("\n") }];
  return [];
}

function editHunk(edit: JsonObject): string[] {
  const before = asString(edit["old_string"]) ?? asString(edit["oldString"]);
  const after = asString(edit["new_string"]) ?? asString(edit["newString"]);
  if (before === undefined || after === undefined) return [];
  const isEverywhere = edit["replace_all"] === true || edit["replaceAll"] === true;
  const lines = diffLines(endLastLine(before), endLastLine(after));
  return [[isEverywhere ? "@@ every occurrence @@" : "@@", ...lines].join("\n")];
}

function toHunk(kind: FileChange["kind"], diff: string): string {
  const isDiff = /^(?:@@|diff --git |--- |\*\*\* )/.test(diff);
  if (isDiff || kind === "update") return diff;
  return ["@@ the whole file @@", ...signLines(kind === "add" ? "+" : "-", diff)].join("\n");
}

function orUndefined(changes: FileChange[]): readonly FileChange[] | undefined {
  return changes.length === 0 ? undefined : changes;
}

const FILE = /^\*\*\* (Add|Update|Delete) File: (.+)$/;
const MOVE = /^\*\*\* Move to: (.+)$/;
const KINDS = { Add: "add", Update: "update", Delete: "delete" } as const;

interface Part {
  path: string;
  kind: FileChange["kind"];
  move_path?: string;
  lines: string[];
}

/** The "*** Begin Patch" format that some models write. */
function parsePatch(patch: string): FileChange[] {
  const parts: Part[] = [];
  for (const line of patch.split("\n")) {
    const [, verb, path] = FILE.exec(line) ?? [];
    const part = parts.at(-1);
    if (verb !== undefined && path !== undefined)
      parts.push({ path: path.trim(), kind: KINDS[verb as keyof typeof KINDS], lines: [] });
    else if (part === undefined || line.startsWith("*** End")) continue;
    else if (MOVE.test(line)) part.move_path = MOVE.exec(line)?.[1]?.trim() ?? "";
    else part.lines.push(line);
  }
  return parts.map(({ path, kind, move_path, lines }) => ({
    path,
    kind,
    ...(lines.length === 0 ? {} : { diff: (kind === "add" ? ["@@", ...lines] : lines).join("\n").trimEnd() }),
    ...defined({ move_path }),
  }));
}
