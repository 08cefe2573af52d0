// What the translator remembers of one session of an ACP agent, and what it reports. Pure data.
import type { JsonObject } from "../../base/json.ts";
import type { RpcErrorBody, RpcId } from "../../base/jsonrpc.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import {
  type NoticeCategory,
  type NoticeParts,
  toNotice,
  type UnknownCategory,
} from "../../protocol/notices.ts";
import type { Ask } from "../types.ts";
import { objectOf } from "../values.ts";
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
  /** A sub-agent was started by it. */
  hasSubAgent: boolean;
  /** The input that was told, as JSON; undefined: the call was not told yet. */
  told: string | undefined;
}

/** A sub-agent, as it was told when it started. */
export interface SubAgent {
  /** From below the session's own agent down to this one. */
  path: string[];
  agent: string;
  provider?: string;
  model?: string;
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
  /** By who speaks: the call that started a sub-agent, or nothing for the agent itself. */
  readonly texts: Map<string | undefined, OpenText>;
  /** How many there were. */
  textCount: number;
  /** Of the running turn, by toolCallId. */
  readonly tools: Map<string, Tool>;
  /** Tools that have their result: what still comes for them is late. */
  readonly doneTools: Set<string>;
  /** Sub-agents of demian that work, by the call that started each. */
  readonly subAgents: Map<string, SubAgent>;
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
    texts: new Map(),
    textCount: 0,
    tools: new Map(),
    doneTools: new Set(),
    subAgents: new Map(),
    asks: new Map(),
    rules: new Set(),
    contextWindow: undefined,
    introduced: "",
    usageSeen: "",
    costUsd: isNew ? 0 : undefined,
    costBefore: isNew ? 0 : undefined,
  };
}

/** Our own agent says so when it is started; no other one reads what we add to ACP, nor says what we add. */
export function isDemian({ agent }: Pick<AcpState, "agent">): boolean {
  const { _meta: own } = objectOf(agent["agentCapabilities"]);
  return [agent["_meta"], own].some((meta) => objectOf(meta)["demian"] !== undefined);
}

/** `_meta.demian` of a frame; empty when it is another agent's. */
export function demianMeta(state: AcpState, frame: JsonObject): JsonObject {
  return isDemian(state) ? objectOf(objectOf(frame["_meta"])["demian"]) : {};
}

/** JSON keeps 0 and "0" apart: ids are numbers from 0 on, or strings. */
export function nativeIdOf(id: RpcId): string {
  return JSON.stringify(id);
}

export function toReports(events: readonly AgentEvent[]): Report[] {
  return events.map((event) => ({ kind: "event", event }));
}

export function notice<C extends NoticeCategory | UnknownCategory>(
  state: AcpState,
  category: C,
  parts: NoticeParts<C> = {},
): Report {
  return { kind: "event", event: toNotice(state.backend, category, parts) };
}
