// Classifies a tool call by name and input: a command, a file change, or another tool. One table for the tools of all
// backends.

import { countChangedLines, countLines } from "../base/diff.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { asObject, asObjects, defined } from "../base/values.ts";
import { cutText } from "./excerpt.ts";
import { CHANGE_KINDS, type ChangeKind, type ItemType } from "./types.ts";

export interface Call {
  item_type: ItemType;
  tool_name: string;
  command?: string;
  cwd?: string;
  file_path?: string;
  /** Absent if unknown, or if several files changed in different ways. */
  change_kind?: ChangeKind;
  diff_summary?: string;
}

const MAX_COMMAND_CHARS = 2048;
const MAX_PATH_CHARS = 1024;

/** Tools that run commands, by the agents' names for them. */
const COMMANDS: ReadonlySet<string> = new Set(["Bash", "shell", "bash", "demo_shell"]);

type Change = Pick<Call, "file_path" | "change_kind" | "diff_summary">;

const CHANGES: ReadonlyMap<string, (input: JsonObject) => Change> = new Map([
  [
    "Edit",
    ({ file_path, old_string, new_string }) =>
      // Without a string to replace, the file is created.
      toChange(file_path, old_string === "" ? "add" : "update", countEdit(old_string, new_string)),
  ],
  [
    "MultiEdit",
    ({ file_path, edits }) =>
      toChange(file_path, "update", asObjects(edits).map(countOneEdit).reduce(addCounts, NONE)),
  ],
  // The previous content, if any, is not known yet.
  ["Write", ({ file_path, content }) => toChange(file_path, "write", { added: countText(content) })],
  [
    "NotebookEdit",
    ({ notebook_path, new_source }) => toChange(notebook_path, "update", { added: countText(new_source) }),
  ],
  [
    "edit_file",
    ({ path, oldString, newString }) => toChange(path, "update", countEdit(oldString, newString)),
  ],
  ["write_file", ({ path, content }) => toChange(path, "write", { added: countText(content) })],
  ["apply_patch", ({ changes }) => toPatch(asObjects(changes))],
] as const);

export function describeCall(tool_name: string, input: unknown): Call {
  if (COMMANDS.has(tool_name)) return { item_type: "commandExecution", tool_name, ...readCommand(input) };
  const change = CHANGES.get(tool_name);
  if (change !== undefined) return { item_type: "fileChange", tool_name, ...change(asObject(input)) };
  return { item_type: "tool", tool_name };
}

/** Several files are one change: names the first, counts all. `kind` is a string, or an object with `type`. */
export function toPatch(changes: readonly JsonObject[]): Change {
  const paths = changes.map(({ path }) => path).filter((path) => typeof path === "string");
  const count = changes.map(countChange).reduce(addCounts, NONE);
  const files = paths.length > 1 ? ` in ${paths.length} files` : "";
  const kinds = new Set(changes.map(readKind));
  const {
    file_path,
    change_kind,
    diff_summary = "",
  } = toChange(paths[0], kinds.size === 1 ? [...kinds][0] : undefined, count);
  return {
    ...defined({ file_path, change_kind }),
    ...(changes.length === 0 ? {} : { diff_summary: `${diff_summary}${files}` }),
  };
}

export function toCommandText(command: unknown): string | undefined {
  const text = Array.isArray(command) ? command.map(String).join(" ") : command;
  return typeof text === "string" ? cutText(text, MAX_COMMAND_CHARS) : undefined;
}

const NONE: DiffCount = { added: 0, removed: 0 };

function readCommand(input: unknown): Pick<Call, "command" | "cwd"> {
  const { command, cwd } = isObject(input) ? input : { command: input, cwd: undefined };
  const text = toCommandText(command);
  return {
    ...defined({ command: text }),
    ...(typeof cwd === "string" ? { cwd: cutText(cwd, MAX_PATH_CHARS) } : {}),
  };
}

function readKind({ kind }: JsonObject): ChangeKind | undefined {
  const type = isObject(kind) ? kind["type"] : kind;
  return CHANGE_KINDS.find((one) => one === type);
}

function countChange(change: JsonObject): DiffCount {
  const { diff } = change;
  const type = readKind(change);
  // The diff of a new or deleted file is the file itself.
  if (type === "add" && !isHunk(diff)) return { added: countText(diff), removed: 0 };
  if (type === "delete" && !isHunk(diff)) return { added: 0, removed: countText(diff) };
  return countHunks(diff);
}

function isHunk(diff: unknown): boolean {
  return typeof diff === "string" && diff.startsWith("@@");
}

function countOneEdit({ old_string, new_string }: JsonObject): DiffCount {
  return countEdit(old_string, new_string);
}

function addCounts(a: DiffCount, b: DiffCount): DiffCount {
  return { added: a.added + b.added, removed: (a.removed ?? 0) + (b.removed ?? 0) };
}

/** Reads from a write's output whether the file was created or overwritten. */
export function findWrittenKind(output: string): ChangeKind | undefined {
  if (/^(?:File created successfully|created )/.test(output)) return "add";
  return /^(?:The file \S[^\n]* has been updated|replaced )/.test(output) ? "overwrite" : undefined;
}

function toChange(path: unknown, change_kind: ChangeKind | undefined, count: DiffCount): Change {
  return {
    ...(typeof path === "string" ? { file_path: cutText(path, MAX_PATH_CHARS) } : {}),
    ...defined({ change_kind }),
    diff_summary: formatDiffCount(count),
  };
}

interface DiffCount {
  added: number;
  /** Absent if unknown. */
  removed?: number;
}

function formatDiffCount({ added, removed }: DiffCount): string {
  return removed === undefined ? `+${added}` : `+${added} -${removed}`;
}

function countText(text: unknown): number {
  return typeof text === "string" ? countLines(text) : 0;
}

function countEdit(before: unknown, after: unknown): DiffCount {
  const isText = typeof before === "string" && typeof after === "string";
  return isText ? countChangedLines(before, after) : { added: countText(after), removed: countText(before) };
}

/** Counts a unified diff, with or without its file headers. */
function countHunks(diff: unknown): DiffCount {
  const count = { added: 0, removed: 0 };
  if (typeof diff !== "string") return count;
  let isInHunk = !diff.startsWith("--- ") && !diff.startsWith("diff ");
  for (const line of diff.split("\n")) {
    if (line.startsWith("@@")) isInHunk = true;
    else if (line.startsWith("diff ")) isInHunk = false;
    else if (isInHunk && line.startsWith("+")) count.added += 1;
    else if (isInHunk && line.startsWith("-")) count.removed += 1;
  }
  return count;
}
