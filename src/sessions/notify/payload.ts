// Payload of the notify hook. Pure; no text is longer than a screen.

import { cutExcerpt } from "../../base/excerpt.ts";
import { defined } from "../../base/values.ts";
import type { ResultEvent } from "../../protocol/events.ts";
import type { NotifyPayload } from "../../protocol/notify.ts";
import { REQUEST_TYPES, type RequestRow } from "../../protocol/requests.ts";
import type { SessionRow } from "../../protocol/session.ts";

const MAX_TEXT_CHARS = 1000;
const MAX_TITLE_CHARS = 300;

export function toWaitsPayload(row: SessionRow, request: RequestRow, nowMs: number): NotifyPayload {
  const { request_id, request_type, payload } = request;
  const isPermission = REQUEST_TYPES[request_type] === "permission";
  return {
    event: "waits",
    ...about(row, nowMs),
    state: isPermission ? "waiting_permission" : "waiting_input",
    request: { request_id, request_type, title: cutExcerpt(payload.title, MAX_TITLE_CHARS) },
  };
}

/** Reads `row.last_result`, which already belongs to this turn. */
export function toTurnPayload(row: SessionRow, result: ResultEvent, nowMs: number): NotifyPayload {
  const { subtype, turn_id } = result;
  const last = row.last_result?.turn_id === turn_id ? row.last_result : undefined;
  const error = last?.error ?? findError(result);
  return {
    event: subtype === "success" ? "done" : "failed",
    ...about(row, nowMs),
    state: "idle",
    result: {
      subtype,
      ...defined({ turn_id }),
      ...(last?.text === undefined ? {} : { text: cutExcerpt(last.text, MAX_TEXT_CHARS) }),
      ...(error === undefined
        ? {}
        : { error: { code: error.code, message: cutExcerpt(error.message, MAX_TEXT_CHARS) } }),
    },
  };
}

export function toStalledPayload(row: SessionRow, silentMs: number, nowMs: number): NotifyPayload {
  return { event: "stalled", ...about(row, nowMs), state: "working", silent_s: Math.round(silentMs / 1000) };
}

type About = Pick<NotifyPayload, "session_id" | "name" | "backend" | "parent" | "cwd" | "cost_usd" | "at_ms">;

function about({ session_id, name, backend, parent, cwd, cost_usd }: SessionRow, at_ms: number): About {
  return {
    session_id,
    backend,
    at_ms,
    ...defined({ name, parent, cwd, cost_usd }),
  };
}

function findError({ error }: ResultEvent): { code: string; message: string } | undefined {
  if (error === undefined) return undefined;
  return { code: String(error.code ?? "error"), message: error.message };
}
