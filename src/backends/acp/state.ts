// What the translator remembers of one session of an ACP agent, and what it reports. Pure data.
import type { JsonObject } from "../../base/json.ts";
import type { RpcErrorBody, RpcId } from "../../base/jsonrpc.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import type { Ask } from "../types.ts";
import type { Settings } from "./settings.ts";

export interface TranslateOptions {
  include_raw_events?: boolean | undefined;
  /** False: what the agent asks is allowed once, by us. */
  approvals?: boolean | undefined;
}

/** Text that the agent is still saying. */
export interface OpenText {
  kind: "text" | "thinking";
  messageId: string | undefined;
  /** The agent's id, or one of ours. */
  itemId: string;
  text: string;
  parent: string | undefined;
}

/** A tool call that has no result yet, as far as it is known. */
export interface Tool {
  readonly id: string;
  name: string | undefined;
  title: string | undefined;
  kind: string | undefined;
  status: string | undefined;
  input: unknown;
  content: unknown;
  locations: string[];
  /** What a running command printed. */
  terminal: string;
  exitCode: number | undefined;
  /** The last content that came while it ran. */
  progress: unknown;
  parent: string | undefined;
  /** The input that was told, as JSON; undefined: the call was not told yet. */
  told: string | undefined;
}

/** One prompt, from the moment it is written to its answer. */
export interface TurnState {
  /** We asked the agent to stop: whatever it answers, that is how the turn ended. */
  isCancelled: boolean;
  /** A person said no to something: some agents end the turn then. */
  isDeclined: boolean;
  /** The agent said that the turn has failed, which it then ends as if all were well. */
  isFailed: boolean;
  /** Its reason for that. */
  failure: string | undefined;
  /** What it said last, itself and not one of its sub-agents. */
  lastText: string;
}

/** What the agent asked and nobody has answered. */
export interface PendingAsk {
  id: RpcId;
  native_id: string;
  method: string;
  params: JsonObject;
  /** Under this key "for this session" is remembered; undefined: it cannot be. */
  rule: string | undefined;
}

export interface AcpState {
  readonly backend: string;
  sessionId: string;
  readonly cwd: string;
  readonly options: TranslateOptions;
  settings: Settings;
  /** What the agent said about itself. */
  readonly agent: JsonObject;
  turn: TurnState | undefined;
  text: OpenText | undefined;
  texts: number;
  /** Of the running turn, by toolCallId. */
  readonly tools: Map<string, Tool>;
  /** Tools that have their result: what still comes for them is late. */
  readonly doneTools: Set<string>;
  readonly asks: Map<string, PendingAsk>;
  /** What a person allowed for this session. */
  readonly rules: Set<string>;
  contextWindow: number | undefined;
  /** The last introduction, as JSON. */
  introduced: string;
  /** The last `usage_update`, as JSON. */
  usageSeen: string;
  /** Spent in the session so far, in USD; undefined: the agent has not told. */
  costUsd: number | undefined;
  /** The same at the end of the last turn. */
  costBefore: number | undefined;
}

export type Report =
  | { kind: "event"; event: AgentEvent }
  | { kind: "ask"; ask: Ask }
  | { kind: "withdrawn"; native_id: string; reason: string }
  | { kind: "auth_failed"; message: string }
  /** The answer to a request of the agent, decided here. */
  | { kind: "reply"; id: RpcId; result: unknown }
  | { kind: "refuse"; id: RpcId; error: RpcErrorBody };

export interface StateParts {
  backend: string;
  sessionId: string;
  cwd: string;
  options: TranslateOptions;
  settings: Settings;
  agent: JsonObject;
  /** Nothing was spent in it before. */
  isNew: boolean;
}

export function newState(parts: StateParts): AcpState {
  const { isNew, ...rest } = parts;
  return {
    ...rest,
    turn: undefined,
    text: undefined,
    texts: 0,
    tools: new Map(),
    doneTools: new Set(),
    asks: new Map(),
    rules: new Set(),
    contextWindow: undefined,
    introduced: "",
    usageSeen: "",
    costUsd: isNew ? 0 : undefined,
    costBefore: isNew ? 0 : undefined,
  };
}

/** JSON keeps 0 and "0" apart: ids are numbers from 0 on, or strings. */
export function nativeIdOf(id: RpcId): string {
  return JSON.stringify(id);
}

export function toReports(events: readonly AgentEvent[]): Report[] {
  return events.map((event) => ({ kind: "event", event }));
}

export interface NoticeParts {
  level?: "info" | "warn" | "error";
  text?: string | undefined;
  data?: JsonObject | undefined;
}

export function notice(state: AcpState, category: string, parts: NoticeParts = {}): Report {
  const { level = "info", text, data } = parts;
  return {
    kind: "event",
    event: {
      type: "agent.notice",
      backend: state.backend,
      level,
      category,
      ...(text === undefined ? {} : { text }),
      ...(data === undefined || Object.keys(data).length === 0 ? {} : { data }),
    },
  };
}
