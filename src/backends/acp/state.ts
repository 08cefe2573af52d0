// The translator's state of one ACP session, and its reports. Pure data.

import type { JsonObject } from "../../base/json.ts";
import type { RpcErrorBody, RpcId } from "../../base/jsonrpc.ts";
import { asObject } from "../../base/values.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import {
  type NoticeCategory,
  type NoticeParts,
  toNotice,
  type UnknownCategory,
} from "../../protocol/notices.ts";
import type { Ask } from "../types.ts";
import type { Settings } from "./settings.ts";

export interface TranslateOptions {
  include_raw_events?: boolean | undefined;
  /** False: we allow each request once. */
  approvals?: boolean | undefined;
}

/** Text that is still being streamed. */
export interface OpenText {
  kind: "text" | "thinking";
  messageId: string | undefined;
  /** The agent's id, or one of ours. */
  itemId: string;
  text: string;
  parent: string | undefined;
}

/** A tool call without a result, as far as it is known. */
export interface Tool {
  readonly id: string;
  name: string | undefined;
  title: string | undefined;
  kind: string | undefined;
  status: string | undefined;
  input: unknown;
  content: unknown;
  locations: string[];
  /** Output of a running command. */
  terminal: string;
  exitCode: number | undefined;
  /** The last content received while it ran. */
  progress: unknown;
  parent: string | undefined;
  /** It started a sub-agent. */
  hasSubAgent: boolean;
  /** The emitted input, as JSON; undefined: the call has not been emitted yet. */
  reported: string | undefined;
}

/** A sub-agent, as reported at its start. */
export interface SubAgent {
  /** From below the session's own agent down to this one. */
  path: string[];
  agent: string;
  provider?: string;
  model?: string;
}

/** One prompt, from writing it to its response. */
export interface TurnState {
  /** We asked the agent to stop: whatever it responds, the turn was interrupted. */
  isCancelled: boolean;
  /** The user declined something: some agents end the turn then. */
  isDeclined: boolean;
  /** The agent reported a failure, but ends the turn normally. */
  isFailed: boolean;
  /** Its reason for that. */
  failure: string | undefined;
  /** Its last message, not one of its sub-agents'. */
  lastText: string;
}

/** Unanswered requests of the agent. */
export interface AcpPendingAsk {
  id: RpcId;
  native_id: string;
  method: string;
  params: JsonObject;
  /** Key under which "for this session" is remembered; undefined: not possible. */
  rule: string | undefined;
}

export interface AcpState {
  readonly backend: string;
  sessionId: string;
  readonly cwd: string;
  readonly options: TranslateOptions;
  settings: Settings;
  /** The agent's self-description. */
  readonly agent: JsonObject;
  turn: TurnState | undefined;
  /** By speaker: the call that started a sub-agent, or nothing for the agent itself. */
  readonly texts: Map<string | undefined, OpenText>;
  /** Number of messages so far. */
  textCount: number;
  /** Of the running turn, by toolCallId. */
  readonly tools: Map<string, Tool>;
  /** Tools with a result: further updates are late. */
  readonly doneTools: Set<string>;
  /** Running sub-agents of demian, by the call that started them. */
  readonly subAgents: Map<string, SubAgent>;
  readonly asks: Map<string, AcpPendingAsk>;
  /** What the user allowed for this session. */
  readonly rules: Set<string>;
  contextWindow: number | undefined;
  /** The last introduction, as JSON. */
  introduced: string;
  /** The last `usage_update`, as JSON. */
  usageSeen: string;
  /** What a message may start with, as last reported. */
  commands?: JsonObject[];
  /** Session cost so far in USD; undefined: not reported. */
  costUsd: number | undefined;
  /** The same at the end of the last turn. */
  costBefore: number | undefined;
}

export type AcpReport =
  | { kind: "event"; event: AgentEvent }
  | { kind: "ask"; ask: Ask }
  | { kind: "withdrawn"; native_id: string; reason: string }
  | { kind: "auth_failed"; message: string }
  | { kind: "used"; cost_usd: number }
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
  /** Nothing was spent before. */
  isNew: boolean;
}

export function createState(parts: StateParts): AcpState {
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

/** Our own agent identifies itself at startup; no other uses our extensions of ACP. */
export function isDemian({ agent }: Pick<AcpState, "agent">): boolean {
  const { _meta: own } = asObject(agent["agentCapabilities"]);
  return [agent["_meta"], own].some((meta) => asObject(meta)["demian"] !== undefined);
}

/** `_meta.demian` of a frame; empty for other agents. */
export function readDemianMeta(state: AcpState, frame: JsonObject): JsonObject {
  return isDemian(state) ? asObject(asObject(frame["_meta"])["demian"]) : {};
}

/** JSON distinguishes 0 and "0": ids are numbers from 0 on, or strings. */
export function toNativeId(id: RpcId): string {
  return JSON.stringify(id);
}

export function toReports(events: readonly AgentEvent[]): AcpReport[] {
  return events.map((event) => ({ kind: "event", event }));
}

export function reportNotice<C extends NoticeCategory | UnknownCategory>(
  state: AcpState,
  category: C,
  parts: NoticeParts<C> = {},
): AcpReport {
  return { kind: "event", event: toNotice(state.backend, category, parts) };
}
