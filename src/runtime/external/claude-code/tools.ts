// Claude Code's tools for our permission gate: what each touches, and what the user is shown.

import { join } from "node:path";
import { asText, defined } from "../../../base/values.ts";
import type { PermissionTarget } from "../../permissions/types.ts";
import { ToolError } from "../../tools/types.ts";
import type { FileChange, Workspace } from "../../workspace/types.ts";
import type { ExternalCall, ExternalPlan } from "../types.ts";
import { applyEdits } from "./edits.ts";

/** "inner": affects only Claude Code's own notes. */
export type ClaudeCategory = "read" | "write" | "run" | "inner" | "other";

type Input = ExternalCall["input"];

interface ClaudeTool {
  category: ClaudeCategory;
  /** The input field that names a file or directory; the default is the workspace. */
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

/** Only these: no tools that keep running after a message or work in another directory. */
const OFFERED = [...Object.keys(TOOLS), "Skill", "WebFetch", "WebSearch"];
const MAX_CHANGED_BYTES = 1_000_000;
const MAX_TITLE = 120;

const ENV_FILES = ["**/.env", "**/.env.*", "!**/.env.example", "!**/.env.sample", "!**/.env.template"];

export interface ClaudePlan extends Omit<ExternalPlan, "isHarmless"> {
  category: ClaudeCategory;
  /** With the path that was judged: Claude Code treats "~", spaces and relative paths differently. */
  input: Input;
}

export function findCategory(tool: string): ClaudeCategory {
  return findTool(tool)?.category ?? "other";
}

/** The tools that its model is offered. */
export function listOfferedTools(order: {
  allowSubagents: boolean;
  permissionMode: "default" | "plan";
  /** A user can answer questions. */
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
 * Permission rules that override all of its settings. Ask: where our hook does not run (`--bare`, 2.1.197) it would read,
 * and run what it considers harmless, without asking. Deny: it does not ask for files that its searches find.
 */
export function buildClaudeSettings(unreadable: readonly string[]): Record<string, unknown> {
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

/** Never rejects: an invalid path becomes a target that is refused. */
export async function prepareClaudeTool(call: ExternalCall, workspace: Workspace): Promise<ClaudePlan> {
  const { tool, input } = call;
  const category = findCategory(tool);
  if (category === "run") return planCommand(call, workspace);
  const field = findTool(tool)?.path;
  if (field === undefined) {
    return {
      category,
      input,
      title: formatTitle(call),
      targets: [{ kind: "other", key: toGrantKey(tool, input) }],
    };
  }
  const named = asText(input[field]);
  const target = await findTarget(named ?? ".", category === "write" ? "write" : "read", workspace);
  const pattern = asText(input["pattern"]);
  const isSearch = named === undefined && pattern !== undefined;
  const changes = category === "write" ? await previewChanges(call, target, workspace) : undefined;
  return {
    category,
    input: { ...input, [field]: isOutside(target) ? named : join(workspace.root, target.lexical) },
    title: `${tool}: ${shorten(isSearch ? pattern : target.lexical)}`,
    targets: [target, ...(tool === "Glob" ? findPatternTargets(pattern) : [])],
    ...defined({ changes }),
  };
}

function planCommand({ tool, input }: ExternalCall, workspace: Workspace): ClaudePlan {
  const command = asText(input["command"]) ?? "";
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

async function findTarget(
  path: string,
  access: PathTarget["access"],
  workspace: Workspace,
): Promise<PathTarget> {
  try {
    // Claude Code expands "~" and trims spaces around a path.
    if (path !== path.trim() || path.startsWith("~")) return toOutsideTarget(path, access);
    const { lexical, real } = await workspace.locate(path);
    return { kind: "path", access, lexical, real };
  } catch {
    return toOutsideTarget(path, access);
  }
}

/** A target outside the workspace: an absolute path, which is refused. */
function toOutsideTarget(path: string, access: PathTarget["access"]): PathTarget {
  const where = path.startsWith("/") ? path : `/${path}`;
  return { kind: "path", access, lexical: where, real: where };
}

function isOutside({ lexical }: PathTarget): boolean {
  return lexical.startsWith("/");
}

/** A pattern may leave the workspace too. */
function findPatternTargets(pattern = ""): PathTarget[] {
  const leads = /^\s*[/~]/.test(pattern) || pattern.split(/[/{},]/).includes("..");
  return leads ? [toOutsideTarget(pattern, "read")] : [];
}

/** The file after the call; undefined if that is not certain, and then the input itself is shown. */
async function previewChanges(
  { tool, input }: ExternalCall,
  target: PathTarget,
  workspace: Workspace,
): Promise<FileChange[] | undefined> {
  if (isOutside(target)) return undefined;
  const oldText = await readCurrent(target.lexical, workspace);
  if (oldText === "unknown") return undefined;
  const before = oldText?.text;
  const newText = tool === "Write" ? asText(input["content"]) : applyEdits(tool, input, before ?? "");
  if (newText === undefined) return undefined;
  return [{ path: target.lexical, ...defined({ oldText: before }), newText }];
}

/** Undefined if the file does not exist. */
async function readCurrent(
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

/** An "always" grant covers exactly this input. */
function toGrantKey(tool: string, input: Input): string {
  const { description: _, ...rest } = input;
  return `${tool} ${JSON.stringify(rest)}`;
}

function formatTitle({ tool, input, title }: ExternalCall): string {
  const text = title ?? asText(input["url"]) ?? asText(input["query"]) ?? asText(input["description"]);
  return text === undefined ? tool : `${tool}: ${shorten(text)}`;
}

function findTool(tool: string): ClaudeTool | undefined {
  return Object.hasOwn(TOOLS, tool) ? TOOLS[tool] : undefined;
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= MAX_TITLE ? line : `${line.slice(0, MAX_TITLE - 1)}…`;
}
