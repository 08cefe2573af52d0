// Sessions, events and replies for tests, checked against the schemas of the HTTP API.
import type * as z from "zod";
import { Action } from "../../src/protocol/actions.ts";
import { EventView, SessionView, WaitReply } from "../../src/protocol/wire/http.ts";

export function aView(fields: Partial<SessionView> = {}): SessionView {
  return SessionView.parse({
    session_id: "s1",
    backend: "demo",
    provider: "demo",
    children: [],
    managed: true,
    activity_state: "idle",
    attached: false,
    running: true,
    stalled: false,
    pending_requests: 0,
    family_pending_requests: 0,
    queued: 0,
    turns: 1,
    usage: {},
    context_tokens: 0,
    started_at_ms: 0,
    last_active_at_ms: 0,
    last_seq: 0,
    ...fields,
  });
}

export function anAction(fields: Partial<Action> = {}): Action {
  return Action.parse({
    session_id: "s1",
    source_provider: "demo",
    action_kind: "command",
    summary_text: "ran npm test",
    status: "success",
    started_at_ms: 0,
    ...fields,
  });
}

export function anEvent(seq: number, frame: Record<string, unknown> = {}): EventView {
  const type = String(frame["type"] ?? "agent.notice");
  return EventView.parse({
    session_id: "s1",
    seq,
    persisted: true,
    timestamp_ms: 0,
    type,
    turn_id: null,
    preview: "",
    frame: { type, seq, ...frame },
  });
}

export function aWait(fields: Partial<z.infer<typeof WaitReply>> = {}): WaitReply {
  return WaitReply.parse({ reason: "idle", session: aView(), ...fields });
}
