// The tools of Claude Code as our permissions see them: what each of them touches, and what a person is shown of it.
import { join } from "node:path";
import type { PermissionTarget } from "../../permissions/types.ts";
import { ToolError } from "../../tools/types.ts";
import type { FileChange, Workspace } from "../../workspace/types.ts";
import type { ExternalCall, ExternalPlan } from "../types.ts";
import { editedText } from "./edits.ts";

/** "inner": it touches nothing but Claude Code's own notes. */
export type ClaudeCategory = "read" | "write" | "run" | "inner" | "other";

type Input = ExternalCall["input"];

interface ClaudeTool {
  category: ClaudeCategory;
  /** The field of its input that names a file or a directory; without one it is about the workspace as a whole. */
  path?: string;
}

const TOOLS: Readonly<Record<string, ClaudeTool>> = {
  Read: { category: "read", path: "file_path" },
  NotebookRead: { category: "read", path: "notebook_path" },
  Glob: { category: "read", path: "path" },
  Grep: { category: "read", path: "path" },
  LS: { category: "read", path: "path" },
  Write: { category: "write", path: "file_path" },
  Edit: { category: "write", path: "file_path" },
  MultiEdit: { category: "write", path: "file_path" },
  NotebookEdit: { category: "write", path: "notebook_path" },
  Bash: { category: "run" },
  TodoWrite: { category: "inner" },
  TaskCreate: { category: "inner" },
  TaskGet: { category: "inner" },
  TaskList: { category: "inner" },
  TaskUpdate: { category: "inner" },
  ToolSearch: { category: "inner" },
};

/** No others: what works behind the end of a message, or in another directory, is not among them. */
const OFFERED = [...Object.keys(TOOLS), "Skill", "WebFetch", "WebSearch"];
const MAX_CHANGED_BYTES = 1_000_000;
const MAX_TITLE = 120;

const ENV_FILES = ["**/.env", "**/.env.*", "!**/.env.example", "!**/.env.sample", "!**/.env.template"];

export interface ClaudePlan extends Omit<ExternalPlan, "isHarmless"> {
  category: ClaudeCategory;
  /** The same with its path as it was judged: Claude Code has its own way with "~", spaces and relative paths. */
  input: Input;
}

export function categoryOf(tool: string): ClaudeCategory {
  return known(tool)?.category ?? "other";
}

/** What its model is told of. */
export function offeredTools(order: {
  allowSubagents: boolean;
  permissionMode: "default" | "plan";
  /** There is somebody who can answer questions. */
  canAsk: boolean;
}): string[] {
  return [
    ...OFFERED,
    ...(order.allowSubagents ? ["Agent", "Task"] : []),
    ...(order.permissionMode === "plan" ? ["ExitPlanMode"] : []),
    ...(order.canAsk ? ["AskUserQuestion"] : []),
  ];
}

/**
 * Its own rules, above all of its settings. Ask: where our hook does not run (`--bare`, 2.1.197) it would read, and run
 * what it takes for harmless, by itself. Deny: what its searches come upon is not asked for.
 */
export function claudeSettings(unreadable: readonly string[]): Record<string, unknown> {
  const hidden = [...ENV_FILES, ...unreadable];
  return {
    permissions: {
      ask: [...OFFERED, "Agent", "Task"],
      deny: hidden.map((glob) => `Read(${glob})`),
    },
  };
}

export function isHarmless(category: ClaudeCategory): boolean {
  return category === "read" || category === "inner";
}

/** Never rejects: a path that leads nowhere is a target that is refused. */
export async function planClaudeTool(call: ExternalCall, workspace: Workspace): Promise<ClaudePlan> {
  const { tool, input } = call;
  const category = categoryOf(tool);
  if (category === "run") return commandPlan(call, workspace);
  const field = known(tool)?.path;
  if (field === undefined) {
    return { category, input, title: titleOf(call), targets: [{ kind: "other", key: keyOf(tool, input) }] };
  }
  const named = textOf(input[field]);
  const target = await pathTarget(named ?? ".", category === "write" ? "write" : "read", workspace);
  const pattern = textOf(input["pattern"]);
  const isSearch = named === undefined && pattern !== undefined;
  const changes = category === "write" ? await changesOf(call, target, workspace) : undefined;
  return {
    category,
    input: { ...input, [field]: isOutside(target) ? named : join(workspace.root, target.lexical) },
    title: `${tool}: ${shorten(isSearch ? pattern : target.lexical)}`,
    targets: [target, ...(tool === "Glob" ? patternTargets(pattern) : [])],
    ...(changes === undefined ? {} : { changes }),
  };
}

function commandPlan({ tool, input }: ExternalCall, workspace: Workspace): ClaudePlan {
  const command = textOf(input["command"]) ?? "";
  return {
    category: "run",
    input,
    title: `${tool}: ${shorten(command)}`,
    targets: [{ kind: "command", command, cwd: workspace.root }],
    command,
    cwd: workspace.root,
  };
}

type PathTarget = Extract<PermissionTarget, { kind: "path" }>;

async function pathTarget(
  path: string,
  access: PathTarget["access"],
  workspace: Workspace,
): Promise<PathTarget> {
  try {
    // Claude Code takes "~" for the home directory and leaves out spaces around a path.
    if (path !== path.trim() || path.startsWith("~")) return outside(path, access);
    const { lexical, real } = await workspace.locate(path);
    return { kind: "path", access, lexical, real };
  } catch {
    return outside(path, access);
  }
}

/** Wherever it is, it is not in the workspace. An absolute path is refused as such. */
function outside(path: string, access: PathTarget["access"]): PathTarget {
  const where = path.startsWith("/") ? path : `/${path}`;
  return { kind: "path", access, lexical: where, real: where };
}

function isOutside({ lexical }: PathTarget): boolean {
  return lexical.startsWith("/");
}

/** A pattern can lead out by itself. */
function patternTargets(pattern = ""): PathTarget[] {
  const leads = /^\s*[/~]/.test(pattern) || pattern.split(/[/{},]/).includes("..");
  return leads ? [outside(pattern, "read")] : [];
}

/** What the file will be; undefined where that is not certain, and then the input itself is shown. */
async function changesOf(
  { tool, input }: ExternalCall,
  target: PathTarget,
  workspace: Workspace,
): Promise<FileChange[] | undefined> {
  if (isOutside(target)) return undefined;
  const oldText = await textBefore(target.lexical, workspace);
  if (oldText === "unknown") return undefined;
  const before = oldText?.text;
  const newText = tool === "Write" ? textOf(input["content"]) : editedText(tool, input, before ?? "");
  if (newText === undefined) return undefined;
  return [{ path: target.lexical, ...(before === undefined ? {} : { oldText: before }), newText }];
}

/** Undefined: the file is not there. */
async function textBefore(
  path: string,
  workspace: Workspace,
): Promise<{ text: string } | "unknown" | undefined> {
  try {
    const { bytes } = await workspace.read(path, { maxBytes: MAX_CHANGED_BYTES });
    return bytes.includes(0) ? "unknown" : { text: bytes.toString("utf8") };
  } catch (error) {
    return error instanceof ToolError && error.code === "not_found" ? undefined : "unknown";
  }
}

/** An "always" is for exactly this: the address, the words, whatever the input says. */
function keyOf(tool: string, input: Input): string {
  const { description: _, ...rest } = input;
  return `${tool} ${JSON.stringify(rest)}`;
}

function titleOf({ tool, input, title }: ExternalCall): string {
  const words = title ?? textOf(input["url"]) ?? textOf(input["query"]) ?? textOf(input["description"]);
  return words === undefined ? tool : `${tool}: ${shorten(words)}`;
}

function known(tool: string): ClaudeTool | undefined {
  return Object.hasOwn(TOOLS, tool) ? TOOLS[tool] : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= MAX_TITLE ? line : `${line.slice(0, MAX_TITLE - 1)}…`;
}
