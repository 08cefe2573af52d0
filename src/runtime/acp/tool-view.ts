// A tool call as shown to an ACP client: kind, title, locations and changes.
import { createHash } from "node:crypto";
import { resolve } from "node:path";
import type { SessionUpdate, ToolCallContent, ToolCallLocation, ToolKind } from "@agentclientprotocol/sdk";
import { cutExcerpt } from "../../base/excerpt.ts";
import { isObject } from "../../base/json.ts";
import { DELEGATE_TOOL } from "../delegation/types.ts";
import type { ToolRegistry } from "../tools/registry.ts";
import type { SideEffect } from "../tools/types.ts";
import type { FileChange } from "../workspace/types.ts";

/** Clients close the connection if a message is too large (SDK: 32 MiB), so every part is bounded. */
const MAX_DIFF_CHARS = 1_000_000;
export const MAX_TEXT_CHARS = 200_000;
const MAX_TITLE_CHARS = 200;

const KINDS: Readonly<Record<string, ToolKind>> = {
  read_file: "read",
  write_file: "edit",
  edit_file: "edit",
  apply_patch: "edit",
  grep: "search",
  glob: "search",
  bash: "execute",
  tail_job: "read",
  kill_job: "execute",
  todo: "think",
  [DELEGATE_TOOL]: "think",
};
/** Claude Code's own tools. */
const KINDS_OF_CLAUDE: Readonly<Record<string, ToolKind>> = {
  Bash: "execute",
  BashOutput: "execute",
  KillShell: "execute",
  Read: "read",
  NotebookRead: "read",
  LS: "read",
  Edit: "edit",
  MultiEdit: "edit",
  Write: "edit",
  NotebookEdit: "edit",
  Glob: "search",
  Grep: "search",
  WebFetch: "fetch",
  WebSearch: "fetch",
  Agent: "think",
  Task: "think",
  TodoWrite: "think",
  ExitPlanMode: "switch_mode",
};
/** Input fields for the title, in order of preference. */
const TITLE_FIELDS = [
  "agent",
  "command",
  "path",
  "file_path",
  "notebook_path",
  "pattern",
  "url",
  "query",
] as const;
const PATHS = ["path", "file_path", "notebook_path"] as const;

/** Other tools, by their side effect. */
const KINDS_BY_EFFECT: Readonly<Record<SideEffect, ToolKind>> = {
  none: "other",
  workspace: "edit",
  process: "execute",
  network: "fetch",
  external: "other",
};

/** `executor` is the program that runs the tool, if not demian. */
export interface ViewedCall {
  name: string;
  input: unknown;
  executor?: string | undefined;
}

/** The first update of a call, before its plan is known. */
export function createCall(
  toolCallId: string,
  call: ViewedCall,
  { cwd, tools }: { cwd: string; tools: ToolRegistry },
): SessionUpdate {
  const { name, input } = call;
  return {
    sessionUpdate: "tool_call",
    toolCallId,
    name,
    title: makeTitle(name, input),
    kind: chooseKind(tools, call),
    status: "pending",
    rawInput: limitInput(input),
    locations: findLocations(cwd, input),
  };
}

export function chooseKind(tools: ToolRegistry, { name, executor }: Omit<ViewedCall, "input">): ToolKind {
  if (executor !== undefined) return KINDS_OF_CLAUDE[stripExecutor(name, executor)] ?? "other";
  return KINDS[name] ?? KINDS_BY_EFFECT[tools.get(name)?.metadata.sideEffect ?? "none"];
}

/** "claudecode.Bash" is "Bash". */
function stripExecutor(name: string, executor: string): string {
  return name.startsWith(`${executor}.`) ? name.slice(executor.length + 1) : name;
}

/** Reads changes from the input of an external agent's tool. */
export function readChanges({ name, input, executor }: ViewedCall): FileChange[] {
  if (executor === undefined || !isObject(input) || typeof input["file_path"] !== "string") return [];
  const path = input["file_path"];
  const tool = stripExecutor(name, executor);
  if (tool === "Write" && typeof input["content"] === "string") return [{ path, newText: input["content"] }];
  if (tool === "Edit") return toFileChanges(path, [input]);
  return tool === "MultiEdit" && Array.isArray(input["edits"]) ? toFileChanges(path, input["edits"]) : [];
}

function toFileChanges(path: string, edits: readonly unknown[]): FileChange[] {
  return edits.flatMap((edit) => {
    const { old_string: oldText, new_string: newText } = isObject(edit) ? edit : {};
    return typeof oldText === "string" && typeof newText === "string" ? [{ path, oldText, newText }] : [];
  });
}

function makeTitle(tool: string, input: unknown): string {
  const telling = isObject(input)
    ? TITLE_FIELDS.map((key) => input[key]).find((value) => typeof value === "string")
    : undefined;
  return toTitleLine(typeof telling === "string" ? `${tool}: ${telling}` : tool);
}

export function toTitleLine(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= MAX_TITLE_CHARS
    ? line
    : `${line.slice(0, MAX_TITLE_CHARS - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}

export function findLocations(
  cwd: string,
  input: unknown,
  changes: readonly FileChange[] = [],
): ToolCallLocation[] {
  if (changes.length > 0)
    return changes.map(({ path, movedTo }) => ({ path: resolve(cwd, movedTo ?? path) }));
  const path = isObject(input)
    ? PATHS.map((key) => input[key]).find((value) => typeof value === "string")
    : undefined;
  if (!isObject(input) || typeof path !== "string") return [];
  const line = input["offset"];
  return [
    {
      path: resolve(cwd, path),
      ...(typeof line === "number" && Number.isInteger(line) && line > 0 ? { line } : {}),
    },
  ];
}

export function toDiffs(cwd: string, changes: readonly FileChange[] = []): ToolCallContent[] {
  return changes.map(({ path: from, movedTo, oldText, newText }) => {
    const path = movedTo ?? from;
    const chars = (oldText?.length ?? 0) + newText.length;
    if (chars > MAX_DIFF_CHARS)
      return toTextContent(`${path}: a change of ${chars} characters, too large to show`);
    return { type: "diff", path: resolve(cwd, path), oldText: oldText ?? null, newText };
  });
}

export function toTextContent(text: string): ToolCallContent {
  return { type: "content", content: { type: "text", text: cutExcerpt(text, MAX_TEXT_CHARS) } };
}

/**
 * Truncates long texts in the input. They end with a digest, so that a client that stores an "always" by this value never
 * confuses two texts.
 */
export function limitInput(input: unknown): unknown {
  if (typeof input === "string") return boundText(input);
  if (Array.isArray(input)) return input.map(limitInput);
  if (!isObject(input)) return input;
  return Object.fromEntries(Object.entries(input).map(([key, value]) => [key, limitInput(value)]));
}

function boundText(text: string): string {
  if (text.length <= MAX_TEXT_CHARS) return text;
  const digest = createHash("sha256").update(text).digest("hex");
  return `${cutExcerpt(text, MAX_TEXT_CHARS)} [sha256 of all: ${digest}]`;
}
