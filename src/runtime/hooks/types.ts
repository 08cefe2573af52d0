// Hooks observe the agent loop; some may block or change an action.

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

export const DEFAULT_TIMEOUT_MS = 10_000;
export const MAX_TIMEOUT_MS = 600_000;

export type HookKind = "builtin" | "command" | "script";

export interface HookMatch {
  /** A tool's name, or "*"; several with "|". */
  tool?: string | undefined;
  agent?: string | undefined;
}

/** A hook in the configuration. */
export interface HookConfig {
  name: string;
  event: HookEvent;
  match?: HookMatch | undefined;
  /** Run with `/bin/sh -c`. */
  command: string;
  timeoutMs?: number | undefined;
  /** "block": if the hook fails, the action does not happen. Default "warn". */
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

/** Written to a command hook's stdin as one line of JSON. */
export interface HookInput {
  event: HookEvent;
  sessionId: string;
  /** In multi-agent mode: the session of the main agent. */
  rootSessionId?: string;
  /** In multi-agent mode: `main`, or an id for each task of a sub-agent. */
  invocationId?: string;
  /** In multi-agent mode: the names from the main agent down to this one. */
  agentPath?: string[];
  callId?: string;
  /** The acting agent, also if it is a sub-agent; `match.agent` refers to it. */
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
  /** PermissionRequest: the decision of the rules. */
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
  /** A hook blocked; later hooks did not run. */
  blocked: boolean;
  /** Why it is blocked. */
  reason?: string;
  warnings: string[];
  /** Combined patch of all hooks; absent if nothing changed. */
  patch?: unknown;
}

export interface HookDispatcher {
  dispatch(input: HookInput, signal: AbortSignal): Promise<HookOutcome>;
}
