// Stored rows as spans of OpenTelemetry, in the JSON encoding of OTLP. Pure. Attributes follow the conventions for
// generative AI; those that it has no name for begin with `blemees.`.
import { makeSessionSpanId, makeToolSpanId, makeTraceId, makeTurnSpanId } from "../../base/trace-ids.ts";
import type { ToolEvent, TurnEvent } from "../types.ts";

export interface SpanSession {
  session_id: string;
  root_session_id?: string | undefined;
  parent_session_id?: string | undefined;
  model?: string | undefined;
}

export interface TurnRow {
  kind: "turn";
  session: SpanSession;
  row: TurnEvent & { turn_id: string };
  started_at_ms: number;
  /** No turn of the session was sent before. */
  isFirst: boolean;
}

export interface ToolRow {
  kind: "tool";
  session: SpanSession;
  row: ToolEvent & { item_id: string };
}

interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: Attribute[];
  status: { code: number; message?: string };
}

interface Attribute {
  key: string;
  value: { stringValue: string } | { intValue: string } | { doubleValue: number };
}

type Values = Readonly<Record<string, string | number | undefined>>;

const INTERNAL = 1;
const UNSET = 0;
const FAILED = 2;
export interface SpanOptions {
  version: string;
  /** Also commands, paths and error texts. */
  hasContent: boolean;
  /** The conventions' name of a provider, by the backend; others keep their own. */
  providers: Readonly<Record<string, string>>;
}

/** The body of a request to a collector. */
export function toTraces(rows: readonly (TurnRow | ToolRow)[], options: SpanOptions): object {
  const { version, hasContent } = options;
  const spans = rows.flatMap((one) =>
    one.kind === "turn" ? toTurnSpans(one, options) : [toToolSpan(one, hasContent)],
  );
  const service = toAttributes({ "service.name": "blemees", "service.version": version });
  return {
    resourceSpans: [
      { resource: { attributes: service }, scopeSpans: [{ scope: { name: "blemees", version }, spans }] },
    ],
  };
}

/** The session itself is a span too, so that turns, child sessions and what agents report have one parent. */
function toTurnSpans(
  { session, row, started_at_ms, isFirst }: TurnRow,
  { hasContent, providers }: SpanOptions,
): Span[] {
  const { turn_id, source_provider, created_at_ms } = row;
  const { session_id, parent_session_id } = session;
  const common = {
    "gen_ai.provider.name": providers[source_provider] ?? source_provider,
    "gen_ai.agent.name": source_provider,
    "gen_ai.conversation.id": session_id,
    "gen_ai.request.model": session.model,
  };
  const traceId = findTrace(session);
  const turn: Span = {
    traceId,
    spanId: makeTurnSpanId(session_id, turn_id),
    parentSpanId: makeSessionSpanId(session_id),
    name: `invoke_agent ${source_provider}`,
    kind: INTERNAL,
    ...toTimes(started_at_ms, created_at_ms),
    attributes: toAttributes({
      "gen_ai.operation.name": "invoke_agent",
      ...common,
      "gen_ai.usage.input_tokens": row.input_tokens,
      "gen_ai.usage.output_tokens": row.output_tokens,
      "error.type": row.error_code,
      "blemees.turn.id": turn_id,
      "blemees.turn.status": row.final_status,
      "blemees.turn.waited_ms": row.waited_ms,
      "blemees.turn.cost_usd": row.cost_usd,
    }),
    status: toStatus(row, hasContent),
  };
  if (!isFirst) return [turn];
  const begun: Span = {
    traceId,
    spanId: makeSessionSpanId(session_id),
    ...(parent_session_id !== undefined && { parentSpanId: makeSessionSpanId(parent_session_id) }),
    name: `create_agent ${source_provider}`,
    kind: INTERNAL,
    ...toTimes(started_at_ms, started_at_ms),
    attributes: toAttributes({ "gen_ai.operation.name": "create_agent", ...common }),
    status: { code: UNSET },
  };
  return [begun, turn];
}

function toToolSpan({ session, row }: ToolRow, hasContent: boolean): Span {
  const { session_id } = session;
  const { turn_id = "", item_id, created_at_ms, latency_ms = 0 } = row;
  const name = row.tool_name ?? row.item_type;
  return {
    traceId: findTrace(session),
    spanId: makeToolSpanId(session_id, turn_id, item_id),
    parentSpanId: turn_id === "" ? makeSessionSpanId(session_id) : makeTurnSpanId(session_id, turn_id),
    name: `execute_tool ${name}`,
    kind: INTERNAL,
    ...toTimes(created_at_ms - latency_ms, created_at_ms),
    attributes: toAttributes({
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": name,
      "gen_ai.tool.call.id": item_id,
      "gen_ai.conversation.id": session_id,
      "gen_ai.tool.call.arguments": hasContent ? (row.command ?? row.file_path) : undefined,
      "error.type": row.error_code,
      "blemees.tool.latency_ms": latency_ms,
      "blemees.tool.exit_code": row.exit_code,
      "blemees.tool.not_run": row.not_run,
    }),
    status: toStatus(row, hasContent),
  };
}

function findTrace({ session_id, root_session_id, parent_session_id }: SpanSession): string {
  return makeTraceId(root_session_id ?? parent_session_id ?? session_id);
}

/** An interruption is no error. */
function toStatus({ event_type, error_message }: TurnEvent | ToolEvent, hasContent: boolean): Span["status"] {
  if (event_type !== "failed" && event_type !== "timeout") return { code: UNSET };
  return { code: FAILED, ...(hasContent && error_message !== undefined && { message: error_message }) };
}

/** If the clock was set back in between, the duration is not known. */
function toTimes(startMs: number, endMs: number): Pick<Span, "startTimeUnixNano" | "endTimeUnixNano"> {
  return {
    startTimeUnixNano: toNanos(Math.min(startMs, endMs)),
    endTimeUnixNano: toNanos(endMs),
  };
}

function toNanos(ms: number): string {
  return `${Math.max(0, Math.round(ms))}000000`;
}

function toAttributes(values: Values): Attribute[] {
  return Object.entries(values).flatMap(([key, value]): Attribute[] =>
    value === undefined ? [] : [{ key, value: toValue(key, value) }],
  );
}

/** The type of an attribute does not depend on its value. */
function toValue(key: string, value: string | number): Attribute["value"] {
  if (typeof value === "string") return { stringValue: value };
  return key.endsWith("_usd") ? { doubleValue: value } : { intValue: String(value) };
}
