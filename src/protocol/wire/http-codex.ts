// Bodies of the `codex-*` routes, in the session-manager format: ISO 8601 times in addition to ours, and no optional fields.
import * as z from "zod";
import { RequestRow, type ResolutionSource } from "../requests.ts";
import { EventsPage, EventView, RespondReply } from "./http.ts";

export const CodexRequest = z.strictObject({
  ...RequestRow.shape,
  thread_id: z.string().nullable(),
  turn_id: z.string().nullable(),
  item_id: z.string().nullable(),
  requested_at: z.iso.datetime(),
  expires_at: z.iso.datetime().optional(),
  resolved_at: z.iso.datetime().optional(),
});
export type CodexRequest = z.infer<typeof CodexRequest>;

export const CodexRequestsReply = z.strictObject({
  requests: z.array(CodexRequest),
  next: z.string().optional(),
});
export const CodexRespondReply = z.strictObject({ ...RespondReply.shape, request: CodexRequest });

export const CodexEvent = z.strictObject({
  ...EventView.shape,
  timestamp: z.iso.datetime().nullable(),
  event_type: z.string(),
  payload_preview: z.string(),
});
export const CodexEventsPage = z.strictObject({
  ...EventsPage.shape,
  events: z.array(CodexEvent),
  unpersisted: z.array(CodexEvent).optional(),
});
export type CodexEventsPage = z.infer<typeof CodexEventsPage>;

/** The session-manager format has three sources. */
const SOURCES: Readonly<Record<ResolutionSource, "tui" | "api" | "policy">> = {
  tui: "tui",
  web: "tui",
  sm: "api",
  blemeesctl: "api",
  socket: "api",
  http: "api",
  api: "api",
  policy: "policy",
};

export function toCodexRequest(row: RequestRow): CodexRequest {
  const { expires_at_ms, resolved_at_ms } = row;
  return {
    ...row,
    ...(row.resolution_source === undefined ? {} : { resolution_source: SOURCES[row.resolution_source] }),
    thread_id: row.thread_id ?? null,
    turn_id: row.turn_id ?? null,
    item_id: row.item_id ?? null,
    requested_at: toIsoTime(row.requested_at_ms),
    ...(expires_at_ms === undefined ? {} : { expires_at: toIsoTime(expires_at_ms) }),
    ...(resolved_at_ms === undefined ? {} : { resolved_at: toIsoTime(resolved_at_ms) }),
  };
}

export function toCodexEvents({ events, unpersisted, ...page }: EventsPage): CodexEventsPage {
  return {
    ...page,
    events: events.map(toCodexEvent),
    ...(unpersisted === undefined ? {} : { unpersisted: unpersisted.map(toCodexEvent) }),
  };
}

function toCodexEvent(event: EventView): z.infer<typeof CodexEvent> {
  const { timestamp_ms, type, preview } = event;
  const timestamp = timestamp_ms === null ? null : toIsoTime(timestamp_ms);
  return { ...event, timestamp, event_type: type, payload_preview: preview };
}

export function toIsoTime(atMs: number): string {
  return new Date(atMs).toISOString();
}
