// What a call of a tool is about, from its name and input: a command, a change of files, or something else. One table
// for the tools of all backends; a tool that is not in it is a `tool`.
import { isObject, type JsonObject } from "../base/json.ts";
import { type DiffCount, diffText, editCount, hunkCount, linesIn } from "./diff.ts";
import { cutText } from "./excerpt.ts";
import { CHANGE_KINDS, type ChangeKind, type ItemType } from "./types.ts";

export interface Call {
  item_type: ItemType;
  tool_name: string;
  command?: string;
  cwd?: string;
  file_path?: string;
  /** Absent: several files changed in different ways, or it is not known. */
  change_kind?: ChangeKind;
  diff_summary?: string;
}

const MAX_COMMAND_CHARS = 2048;
const MAX_PATH_CHARS = 1024;

/** The tools that run commands, by the names the agents give them. */
const COMMANDS: ReadonlySet<string> = new Set(["Bash", "shell", "bash", "demo_shell"]);

type Change = Pick<Call, "file_path" | "change_kind" | "diff_summary">;

const CHANGES: ReadonlyMap<string, (input: JsonObject) => Change> = new Map([
  [
    "Edit",
    ({ file_path, old_string, new_string }) =>
      // The file is created when there is nothing to look for.
      toChange(file_path, old_string === "" ? "add" : "update", editCount(old_string, new_string)),
  ],
  [
    "MultiEdit",
    ({ file_path, edits }) => toChange(file_path, "update", objects(edits).map(editOf).reduce(sum, NONE)),
  ],
  // What the file held before, if there was one, is not known yet.
  ["Write", ({ file_path, content }) => toChange(file_path, "write", { added: linesIn(content) })],
  [
    "NotebookEdit",
    ({ notebook_path, new_source }) => toChange(notebook_path, "update", { added: linesIn(new_source) }),
  ],
  [
    "edit_file",
    ({ path, oldString, newString }) => toChange(path, "update", editCount(oldString, newString)),
  ],
  ["write_file", ({ path, content }) => toChange(path, "write", { added: linesIn(content) })],
  ["apply_patch", ({ changes }) => toPatch(objects(changes))],
] as const);

export function describeCall(tool_name: string, input: unknown): Call {
  if (COMMANDS.has(tool_name)) return { item_type: "commandExecution", tool_name, ...commandOf(input) };
  const change = CHANGES.get(tool_name);
  if (change !== undefined)
    return { item_type: "fileChange", tool_name, ...change(isObject(input) ? input : {}) };
  return { item_type: "tool", tool_name };
}

/** Several files are one change: the first is named, all are counted. `kind` is a word, or an object with one. */
export function toPatch(changes: readonly JsonObject[]): Change {
  const paths = changes.map(({ path }) => path).filter((path) => typeof path === "string");
  const count = changes.map(changeCount).reduce(sum, NONE);
  const files = paths.length > 1 ? ` in ${paths.length} files` : "";
  const kinds = new Set(changes.map(kindOf));
  const {
    file_path,
    change_kind,
    diff_summary = "",
  } = toChange(paths[0], kinds.size === 1 ? [...kinds][0] : undefined, count);
  return {
    ...(file_path === undefined ? {} : { file_path }),
    ...(change_kind === undefined ? {} : { change_kind }),
    ...(changes.length === 0 ? {} : { diff_summary: `${diff_summary}${files}` }),
  };
}

export function commandText(command: unknown): string | undefined {
  const text = Array.isArray(command) ? command.map(String).join(" ") : command;
  return typeof text === "string" ? cutText(text, MAX_COMMAND_CHARS) : undefined;
}

const NONE: DiffCount = { added: 0, removed: 0 };

function commandOf(input: unknown): Pick<Call, "command" | "cwd"> {
  const { command, cwd } = isObject(input) ? input : { command: input, cwd: undefined };
  const text = commandText(command);
  return {
    ...(text === undefined ? {} : { command: text }),
    ...(typeof cwd === "string" ? { cwd: cutText(cwd, MAX_PATH_CHARS) } : {}),
  };
}

function kindOf({ kind }: JsonObject): ChangeKind | undefined {
  const type = isObject(kind) ? kind["type"] : kind;
  return CHANGE_KINDS.find((one) => one === type);
}

function changeCount(change: JsonObject): DiffCount {
  const { diff } = change;
  const type = kindOf(change);
  // The diff of a new or deleted file is the file itself.
  if (type === "add" && !isHunk(diff)) return { added: linesIn(diff), removed: 0 };
  if (type === "delete" && !isHunk(diff)) return { added: 0, removed: linesIn(diff) };
  return hunkCount(diff);
}

function isHunk(diff: unknown): boolean {
  return typeof diff === "string" && diff.startsWith("@@");
}

function editOf({ old_string, new_string }: JsonObject): DiffCount {
  return editCount(old_string, new_string);
}

function sum(a: DiffCount, b: DiffCount): DiffCount {
  return { added: a.added + b.added, removed: (a.removed ?? 0) + (b.removed ?? 0) };
}

/** What a write turned out to be, from what it says when it is done. */
export function writtenKind(output: string): ChangeKind | undefined {
  if (/^(?:File created successfully|created )/.test(output)) return "add";
  return /^(?:The file \S[^\n]* has been updated|replaced )/.test(output) ? "overwrite" : undefined;
}

function toChange(path: unknown, change_kind: ChangeKind | undefined, count: DiffCount): Change {
  return {
    ...(typeof path === "string" ? { file_path: cutText(path, MAX_PATH_CHARS) } : {}),
    ...(change_kind === undefined ? {} : { change_kind }),
    diff_summary: diffText(count),
  };
}

function objects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
