// How a tool call looks to an ACP client: its kind, its title, where it happens, what it changes.
import { createHash } from "node:crypto";
import { resolve } from "node:path";
import type { SessionUpdate, ToolCallContent, ToolCallLocation, ToolKind } from "@agentclientprotocol/sdk";
import { excerpt } from "../../base/excerpt.ts";
import { isObject } from "../../base/json.ts";
import { DELEGATE_TOOL } from "../delegation/types.ts";
import type { ToolRegistry } from "../tools/registry.ts";
import type { SideEffect } from "../tools/types.ts";
import type { FileChange } from "../workspace/types.ts";

/** A client closes the connection when one message is too large (the SDK: 32 MiB); so no part of ours may be. */
const MAX_DIFF_CHARS = 1_000_000;
export const MAX_TEXT_CHARS = 200_000;
const MAX_TITLE_CHARS = 200;

const KINDS: Readonly<Record<string, ToolKind>> = {
  read_file: "read",
  write_file: "edit",
  edit_file: "edit",
  grep: "search",
  glob: "search",
  bash: "execute",
  [DELEGATE_TOOL]: "think",
};
/** The tools of Claude Code, which runs them itself. */
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
/** The field of the input that names the call best. */
const TELLING = [
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

/** What tools of other programs do is known by what they touch. */
const KINDS_BY_EFFECT: Readonly<Record<SideEffect, ToolKind>> = {
  none: "other",
  workspace: "edit",
  process: "execute",
  network: "fetch",
  external: "other",
};

/** A call, and who runs the tool where it is not demian. */
export interface ViewedCall {
  name: string;
  input: unknown;
  executor?: string | undefined;
}

/** The first word of a call, before the tool itself has said what it will do. */
export function newCall(
  toolCallId: string,
  call: ViewedCall,
  { cwd, tools }: { cwd: string; tools: ToolRegistry },
): SessionUpdate {
  const { name, input } = call;
  return {
    sessionUpdate: "tool_call",
    toolCallId,
    name,
    title: titleOf(name, input),
    kind: kindOf(tools, call),
    status: "pending",
    rawInput: shownInput(input),
    locations: locationsOf(cwd, input),
  };
}

export function kindOf(tools: ToolRegistry, { name, executor }: Omit<ViewedCall, "input">): ToolKind {
  if (executor !== undefined) return KINDS_OF_CLAUDE[ownName(name, executor)] ?? "other";
  return KINDS[name] ?? KINDS_BY_EFFECT[tools.get(name)?.metadata.sideEffect ?? "none"];
}

/** "claudecode.Bash" is called Bash by who runs it. */
function ownName(name: string, executor: string): string {
  return name.startsWith(`${executor}.`) ? name.slice(executor.length + 1) : name;
}

/** What the input alone says of a change, where another agent makes it. */
export function changesOf({ name, input, executor }: ViewedCall): FileChange[] {
  if (executor === undefined || !isObject(input) || typeof input["file_path"] !== "string") return [];
  const path = input["file_path"];
  const tool = ownName(name, executor);
  if (tool === "Write" && typeof input["content"] === "string") return [{ path, newText: input["content"] }];
  if (tool === "Edit") return replaced(path, [input]);
  return tool === "MultiEdit" && Array.isArray(input["edits"]) ? replaced(path, input["edits"]) : [];
}

function replaced(path: string, edits: readonly unknown[]): FileChange[] {
  return edits.flatMap((edit) => {
    const { old_string: oldText, new_string: newText } = isObject(edit) ? edit : {};
    return typeof oldText === "string" && typeof newText === "string" ? [{ path, oldText, newText }] : [];
  });
}

function titleOf(tool: string, input: unknown): string {
  const telling = isObject(input)
    ? TELLING.map((key) => input[key]).find((value) => typeof value === "string")
    : undefined;
  return oneLine(typeof telling === "string" ? `${tool}: ${telling}` : tool);
}

export function oneLine(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= MAX_TITLE_CHARS
    ? line
    : `${line.slice(0, MAX_TITLE_CHARS - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}

export function locationsOf(
  cwd: string,
  input: unknown,
  changes: readonly FileChange[] = [],
): ToolCallLocation[] {
  if (changes.length > 0) return changes.map(({ path }) => ({ path: resolve(cwd, path) }));
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

export function diffsOf(cwd: string, changes: readonly FileChange[] = []): ToolCallContent[] {
  return changes.map(({ path, oldText, newText }) => {
    const chars = (oldText?.length ?? 0) + newText.length;
    if (chars > MAX_DIFF_CHARS)
      return textContent(`${path}: a change of ${chars} characters, too large to show`);
    return { type: "diff", path: resolve(cwd, path), oldText: oldText ?? null, newText };
  });
}

export function textContent(text: string): ToolCallContent {
  return { type: "content", content: { type: "text", text: excerpt(text, MAX_TEXT_CHARS) } };
}

/**
 * The input as it is, but for texts that would burst a message: these end with their digest, so that a client which
 * remembers what was allowed by what it saw never takes another text for the same.
 */
export function shownInput(input: unknown): unknown {
  if (typeof input === "string") return shownText(input);
  if (Array.isArray(input)) return input.map(shownInput);
  if (!isObject(input)) return input;
  return Object.fromEntries(Object.entries(input).map(([key, value]) => [key, shownInput(value)]));
}

function shownText(text: string): string {
  if (text.length <= MAX_TEXT_CHARS) return text;
  const digest = createHash("sha256").update(text).digest("hex");
  return `${excerpt(text, MAX_TEXT_CHARS)} [sha256 of all: ${digest}]`;
}
