// Hooks watch what the loop does, and some may stop or change it.

export const HOOK_EVENTS = [
  "SessionStart",
  "SessionEnd",
  "UserPromptSubmit",
  "BeforeModelRequest",
  "AfterModelResponse",
  "PreToolUse",
  "PostToolUse",
  "ToolError",
  "PermissionRequest",
  "Stop",
] as const;
export type HookEvent = (typeof HOOK_EVENTS)[number];

/** Of one hook. */
export const DEFAULT_TIMEOUT_MS = 10_000;
export const MAX_TIMEOUT_MS = 600_000;

export type HookKind = "builtin" | "command" | "script";

export interface HookMatch {
  /** A tool's name, or "*"; several with "|". */
  tool?: string | undefined;
  agent?: string | undefined;
}

/** As it stands in the configuration. */
export interface HookConfig {
  name: string;
  event: HookEvent;
  match?: HookMatch | undefined;
  /** Run by the user's shell. */
  command: string;
  timeoutMs?: number | undefined;
  /** A gate: when it fails, what it guards does not happen. Default: a warning. */
  onError?: "warn" | "block" | undefined;
}

export interface Hook {
  name: string;
  event: HookEvent;
  kind: HookKind;
  match?: HookMatch;
  timeoutMs?: number;
  onError: "warn" | "block";
  run(input: HookInput, signal: AbortSignal): Promise<HookResult>;
}

/** What a command hook reads from its stdin, as one line of JSON. */
export interface HookInput {
  event: HookEvent;
  sessionId: string;
  /** With several agents: the session that all of them belong to. */
  rootSessionId?: string;
  /** With several agents: `main`, or one for each task of a sub-agent. */
  invocationId?: string;
  /** With several agents: the names from the main agent down to this one. */
  agentPath?: string[];
  callId?: string;
  /** Who does it: with several agents the sub-agent, so that `match.agent` is about that one. */
  agent: string;
  cwd: string;
  toolName?: string;
  toolInput?: unknown;
  /** PostToolUse and ToolError. */
  toolResult?: { ok: boolean; content: string };
  /** UserPromptSubmit. */
  prompt?: string;
  /** AfterModelResponse and Stop. */
  text?: string;
  provider?: string;
  model?: string;
  tools?: string[];
  sandbox?: { mode: string; adapter?: string };
  /** SessionEnd and Stop. */
  reason?: string;
  /** PermissionRequest: what the rules say so far. */
  decision?: string;
}

export interface HookResult {
  decision?: "allow" | "warn" | "block";
  message?: string;
  /**
   * PreToolUse: the new tool input. UserPromptSubmit: `{prompt}`. AfterModelResponse: `{text}`. PostToolUse: `{content}`.
   * SessionStart: `{system}`, added to the system prompt. Ignored elsewhere.
   */
  patch?: unknown;
  metadata?: Record<string, unknown>;
}

export interface HookOutcome {
  /** True: somebody said block. Hooks after it did not run. */
  blocked: boolean;
  /** Why it is blocked: from the hook that said so. */
  reason?: string;
  warnings: string[];
  /** Of all hooks, each given what the one before made of it. Absent: nobody changed anything. */
  patch?: unknown;
}

export interface HookDispatcher {
  dispatch(input: HookInput, signal: AbortSignal): Promise<HookOutcome>;
}
