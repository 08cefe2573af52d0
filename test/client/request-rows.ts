// Rows of the ledger for tests, as the daemon sends them.
import type { PendingRequest, RequestPayload, RequestRow } from "../../src/client/index.ts";
import type { Json } from "./scripted-server.ts";

export const PAYLOAD: RequestPayload = {
  title: "Bash: mkdir -p build",
  command: "mkdir -p build",
  cwd: "/w",
  choices: [
    { decision: "accept", takes: ["updated_input"] },
    { decision: "acceptForSession", remembers: ["allow Bash(mkdir:*)"] },
    {
      decision: "acceptAlways",
      writes: [{ path: "/w/.claude/settings.local.json", content: "permissions.allow += Bash(mkdir:*)" }],
    },
    { decision: "decline", takes: ["message"] },
    { decision: "cancel" },
  ],
};

export const QUESTIONS: RequestPayload = {
  title: "Question: Which colour? (and 1 more)",
  questions: [
    {
      id: "Which colour?",
      question: "Which colour?",
      header: "Colour",
      options: [{ label: "Red", description: "warm" }, { label: "dark blue" }],
      allows_other: true,
    },
    { id: "q2", question: "Token?", is_secret: true, multi_select: true },
  ],
  choices: [{ decision: "accept" }, { decision: "decline", takes: ["message"] }],
};

export function pending(fields: Partial<RequestRow> = {}): PendingRequest {
  return {
    request_id: "req_a1",
    session_id: "s1",
    backend: "demo",
    request_type: "command",
    payload: PAYLOAD,
    shown_hash: "hash-a1",
    requested_at_ms: 1,
    generation: "g1",
    ...fields,
    status: "pending",
  };
}

/** As a notice in the session's stream: only the first one has the payload. */
export function noticeOf(row: RequestRow, seq: number): Json {
  const { payload, ...rest } = row;
  return {
    type: "agent.notice",
    session_id: row.session_id,
    seq,
    backend: row.backend,
    level: "info",
    category: `request_${row.status}`,
    text: payload.title,
    data: { request: row.status === "pending" ? row : rest },
  };
}

export function resolved(row: RequestRow, fields: Partial<RequestRow> = {}): RequestRow {
  const answer = { decision: "accept" } as const;
  return {
    ...row,
    answer,
    resolved_at_ms: 2,
    resolution_source: "api",
    dispatched_at_ms: 3,
    ...fields,
    status: "resolved",
  };
}

/** The daemon's reply to a respond frame. */
export function responded({ id, session_id, request_id }: Json, request: RequestRow, repeated = false): Json {
  return { type: "blemeesd.responded", id, session_id, request_id, repeated, request };
}
