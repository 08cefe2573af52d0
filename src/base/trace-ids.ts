// Ids of traces and spans (W3C Trace Context), made from our own ids: every process gives a span the same id, and a span
// that is sent twice is one span.
import { createHash } from "node:crypto";

/** One trace per family. */
export function makeTraceId(root_session_id: string): string {
  return hash(["trace", root_session_id], 32);
}

export function makeSessionSpanId(session_id: string): string {
  return hash(["session", session_id], 16);
}

export function makeTurnSpanId(session_id: string, turn_id: string): string {
  return hash(["turn", session_id, turn_id], 16);
}

export function makeToolSpanId(session_id: string, turn_id: string, item_id: string): string {
  return hash(["tool", session_id, turn_id, item_id], 16);
}

/** For the environment of a session's agent: its own spans become children of the session's. */
export function makeTraceparent({
  session_id,
  root,
}: {
  session_id: string;
  root?: string | undefined;
}): string {
  return `00-${makeTraceId(root ?? session_id)}-${makeSessionSpanId(session_id)}-01`;
}

function hash(parts: readonly string[], chars: number): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, chars);
}
