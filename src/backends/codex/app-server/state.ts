// What the translator remembers about one Codex session (a root thread and its sub-agents), and what it reports.
// Plain data; only translate.ts, requests.ts and the files they call change it.
import type { JsonObject } from "../../../base/json.ts";
import type { AgentEvent } from "../../../protocol/events.ts";
import type { Usage } from "../../../protocol/usage.ts";

/** In the order in which the run has to hear them. */
export type Report =
  | { kind: "event"; event: AgentEvent }
  /** Codex began a turn on the root thread, on our word or by itself. */
  | { kind: "turn_started"; turnId: string }
  /** Right behind the `agent.result` of a turn of the root thread. */
  | { kind: "turn_ended"; turnId: string }
  | { kind: "auth_failed"; message: string }
  /** Codex tries again, perhaps for ever: the run bounds it. */
  | { kind: "retrying"; message: string }
  /** The first thing that worked after a retry. */
  | { kind: "progress" }
  /** A request that nobody answered is over. */
  | { kind: "withdrawn"; native_id: string; reason: string }
  /** Codex has unloaded, archived or deleted the root thread. */
  | { kind: "thread_closed" };

export interface CodexTranslateOptions {
  user_echo?: boolean;
  include_raw_events?: boolean;
  cwd?: string;
}

/** A notification of the app-server, as it stands on the wire. */
export interface Notification {
  method: string;
  params?: unknown;
  emittedAtMs?: number;
}

export interface CodexState {
  readonly threadId: string;
  readonly options: CodexTranslateOptions;
  readonly codexHome: string | undefined;
  /** The root and every sub-agent known so far. */
  readonly threads: Map<string, ThreadState>;
  /** Sub-agent threads that the router has not been told about. */
  readonly untold: string[];
  /** Requests that wait for an answer, by native id. */
  readonly asks: Map<string, PendingAsk>;
  /** What Codex said about the thread, for `agent.system_init`. */
  intro: JsonObject;
  /** The last `agent.system_init`, as text: only what is new is passed on. */
  lastInit: string | undefined;
  /** The last `rate_limits` notice, as text: Codex repeats it with every model call. */
  lastRateLimits: string | undefined;
  isRetrying: boolean;
}

export interface ThreadState {
  readonly id: string;
  /** Absent for the root. */
  readonly parentId: string | undefined;
  /** The tool call of the parent that started it. */
  toolUseId: string | undefined;
  /** Nickname, role or path: what people call the sub-agent. */
  name: string | undefined;
  turnId: string | undefined;
  /** The error that ends the running turn. */
  error: JsonObject | undefined;
  /** Tokens of the whole thread, as last told. Absent: not known, or a part was taken back. */
  total: Usage | undefined;
  /** Tokens of the running turn. */
  spent: Usage | undefined;
  /** The diff of the running turn, as last told: Codex repeats it. */
  diff: string | undefined;
  /** Items that began and have not completed, by id. */
  readonly open: Map<string, OpenItem>;
  /** Tool calls that we closed ourselves: their own end, if it still comes, is no second result. */
  readonly abandoned: Set<string>;
}

export interface OpenItem {
  item: JsonObject;
  /** `agent.tool_use` has gone out for it. */
  isTool: boolean;
  /** A part of its text has gone out as `agent.delta`. */
  hasDelta: boolean;
}

/** What is kept of a server request until it is answered. */
export interface PendingAsk {
  /** As it stood on the wire: 0 and "0" differ. */
  readonly id: string | number;
  readonly native_id: string;
  readonly method: string;
  readonly params: JsonObject;
}

export function newState(init: {
  threadId: string;
  options: CodexTranslateOptions;
  codexHome?: string;
}): CodexState {
  return {
    threadId: init.threadId,
    options: init.options,
    codexHome: init.codexHome,
    threads: new Map([[init.threadId, newThread(init.threadId)]]),
    untold: [],
    asks: new Map(),
    intro: {},
    lastInit: undefined,
    lastRateLimits: undefined,
    isRetrying: false,
  };
}

export function newThread(id: string, parentId?: string, toolUseId?: string): ThreadState {
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

/** Ids are numbers (from 0) or strings, and one may look like the other. */
export function nativeIdOf(id: string | number): string {
  return typeof id === "number" ? `n:${id}` : `s:${id}`;
}

export function toReports(events: readonly AgentEvent[]): Report[] {
  return events.map((event) => ({ kind: "event", event }));
}
