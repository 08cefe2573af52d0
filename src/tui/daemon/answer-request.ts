// Answers a request as it was shown, over HTTP. Used by the list and by the screen of a session.
import type { HttpClient } from "../../client/http.ts";
import type { Answer, RequestRow } from "../../client/view/types.ts";

export interface Answered {
  /** What could not be done as requested. */
  notice?: string;
  /** Another answer came first, and counts. */
  late?: string;
}

/** Throws `request_changed`. */
export async function answerRequest(
  http: HttpClient,
  { request_id, session_id, shown_hash }: RequestRow,
  answer: Answer,
): Promise<Answered> {
  const how = { shown_hash, source: "tui" } as const;
  const { repeated, request, notice } = await http.respond(session_id, request_id, answer, how);
  const outcome = notice === undefined ? {} : { notice };
  if (!repeated) return outcome;
  const { answer: before } = request;
  const what = before !== undefined && "decision" in before ? ` (${before.decision})` : "";
  return { ...outcome, late: `already answered${what}; the first answer counts` };
}
