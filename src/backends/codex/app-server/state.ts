// The translator's state of one Codex session (a root thread and its sub-agents), and its reports. Plain data; changed
// only by translate.ts, requests.ts and the files they call.
import type { JsonObject } from "../../../base/json.ts";
import type { AgentEvent } from "../../../protocol/events.ts";
import type { Usage } from "../../../protocol/usage.ts";

/** In the order in which the run must process them. */
export type CodexReport =
  | { kind: "event"; event: AgentEvent }
  /** Codex began a turn on the root thread, on our word or by itself. */
  | { kind: "turn_started"; turnId: string }
  /** Right after the `agent.result` of a turn of the root thread. */
  | { kind: "turn_ended"; turnId: string }
  | { kind: "auth_failed"; message: string }
  | { kind: "used"; usage: Usage }
  /** Codex is retrying, possibly forever: the run limits it. */
  | { kind: "retrying"; message: string }
  /** The first thing that worked after a retry. */
  | { kind: "progress" }
  /** A request ended without an answer. */
  | { kind: "withdrawn"; native_id: string; reason: string }
  /** Codex has unloaded, archived or deleted the root thread. */
  | { kind: "thread_closed" };

export interface CodexTranslateOptions {
  user_echo?: boolean;
  include_raw_events?: boolean;
  cwd?: string;
}

/** A notification of the app-server, unchanged. */
export interface Notification {
  method: string;
  params?: unknown;
  emittedAtMs?: number;
}

export interface CodexState {
  readonly threadId: string;
  readonly options: CodexTranslateOptions;
  readonly codexHome: string | undefined;
  /** The root and every known sub-agent. */
  readonly threads: Map<string, ThreadState>;
  /** Sub-agent threads not yet reported to the router. */
  readonly unreported: string[];
  /** Pending requests, by native id. */
  readonly asks: Map<string, CodexPendingAsk>;
  /** Codex's description of the thread, for `agent.system_init`. */
  intro: JsonObject;
  /** The last `agent.system_init`, as text: only changes are passed on. */
  lastInit: string | undefined;
  /** The last `rate_limits` notice, as text: Codex repeats it with every model call. */
  lastRateLimits: string | undefined;
  isRetrying: boolean;
}

export interface ThreadState {
  readonly id: string;
  /** Absent for the root. */
  readonly parentId: string | undefined;
  /** The parent's tool call that started it. */
  toolUseId: string | undefined;
  /** Nickname, role or path of the sub-agent. */
  name: string | undefined;
  turnId: string | undefined;
  /** The error that ends the running turn. */
  error: JsonObject | undefined;
  /** Tokens of the whole thread, as last reported. Absent: unknown, or part of the history was removed. */
  total: Usage | undefined;
  /** Tokens of the running turn. */
  spent: Usage | undefined;
  /** The diff of the running turn, as last reported: Codex repeats it. */
  diff: string | undefined;
  /** Items that have started and not completed, by id. */
  readonly open: Map<string, OpenItem>;
  /** Tool calls that we closed: a later end of theirs is not a second result. */
  readonly abandoned: Set<string>;
}

export interface OpenItem {
  item: JsonObject;
  /** `agent.tool_use` was emitted for it. */
  isTool: boolean;
  /** Part of its text was emitted as `agent.delta`. */
  hasDelta: boolean;
}

/** State of a server request until it is answered. */
export interface CodexPendingAsk {
  /** As on the wire: 0 and "0" differ. */
  readonly id: string | number;
  readonly native_id: string;
  readonly method: string;
  readonly params: JsonObject;
}

export function createState(init: {
  threadId: string;
  options: CodexTranslateOptions;
  codexHome?: string;
}): CodexState {
  return {
    threadId: init.threadId,
    options: init.options,
    codexHome: init.codexHome,
    threads: new Map([[init.threadId, createThread(init.threadId)]]),
    unreported: [],
    asks: new Map(),
    intro: {},
    lastInit: undefined,
    lastRateLimits: undefined,
    isRetrying: false,
  };
}

export function createThread(id: string, parentId?: string, toolUseId?: string): ThreadState {
  return {
    id,
    parentId,
    toolUseId,
    name: undefined,
    turnId: undefined,
    error: undefined,
    total: undefined,
    spent: undefined,
    diff: undefined,
    open: new Map(),
    abandoned: new Set(),
  };
}

/** Ids are numbers (from 0) or strings, and may look alike. */
export function toNativeId(id: string | number): string {
  return typeof id === "number" ? `n:${id}` : `s:${id}`;
}

export function toReports(events: readonly AgentEvent[]): CodexReport[] {
  return events.map((event) => ({ kind: "event", event }));
}
