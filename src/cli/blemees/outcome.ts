// How a wait ended, as exit code and text; and the agent's answer.

import type { HttpClient, SessionView, WaitReply } from "../../client/index.ts";
import { joinText } from "../../protocol/message-text.ts";

export const EXIT = { done: 0, failed: 1, blocked: 3, gone: 4, timeout: 124 } as const;

export const EXIT_NOTES: readonly string[] = [
  "  0    idle, and the last turn succeeded",
  "  1    the last turn failed or was interrupted",
  "  3    a request is pending (sm requests ID), or a budget is used up (sm budget ID)",
  "  4    stopped, or deleted",
  "  124  timeout; the session is still working",
];

export interface Verdict {
  code: number;
  text: string;
}

/** The budget that holds its queue, if no request is its own: a person is asked in the name of an ancestor. */
function findWantedBudget({ pending_requests, held }: SessionView): string | undefined {
  return pending_requests === 0 ? held : undefined;
}

/** The command, without the program, that shows what blocks a session. */
export function toBlockedHint(session: SessionView): string {
  return `${findWantedBudget(session) === undefined ? "requests" : "budget"} ${session.session_id}`;
}

/** An agent stopped only because it was idle counts by the result of its last turn. */
export function judgeWait({ reason, session, input }: WaitReply): Verdict {
  if (reason === "timeout") return { code: EXIT.timeout, text: `still ${session.activity_state}` };
  if (reason === "blocked")
    return { code: EXIT.blocked, text: `waiting for ${findWantedBudget(session) ?? "an answer"}` };
  if (input?.state === "cancelled") return { code: EXIT.gone, text: "the message was cancelled" };
  if (input?.state === "failed") {
    const why = input.error === undefined ? "" : `: ${input.error.message}`;
    return { code: EXIT.failed, text: `the message could not be delivered${why}` };
  }
  if (input?.outcome !== undefined) return judgeTurn(input.outcome, session);
  if (reason === "stopped" && (session.stopped_at_ms !== undefined || session.last_result === undefined))
    return { code: EXIT.gone, text: "stopped" };
  return session.last_result === undefined
    ? { code: EXIT.done, text: "idle" }
    : judgeTurn(session.last_result.subtype, session);
}

function judgeTurn(subtype: string, { last_result }: SessionView): Verdict {
  if (subtype === "success") return { code: EXIT.done, text: "done" };
  const why = last_result?.error === undefined ? "" : `: ${last_result.error.message}`;
  return { code: EXIT.failed, text: `its turn ended with ${subtype}${why}` };
}

const PAGE = 1000;

/** The last message of the agent in this turn. `since_seq`: an event before it. */
export async function readAnswer(
  http: HttpClient,
  session: SessionView,
  since_seq: number,
  turn_id: string | undefined,
): Promise<string | undefined> {
  let said: string | undefined;
  for (let cursor = since_seq; ; ) {
    const page = await http.events(session.session_id, { since_seq: cursor, limit: PAGE });
    for (const { frame } of page.events) {
      if (frame["parent_tool_use_id"] !== undefined) continue;
      if (frame["type"] === "agent.message") said = joinText(frame["content"]) || said;
      if (frame["type"] !== "agent.result") continue;
      if (turn_id === undefined || frame["turn_id"] === turn_id) return said;
      said = undefined;
    }
    if (page.events.length === 0 || page.next_seq <= cursor) return said ?? session.last_result?.text;
    cursor = page.next_seq;
  }
}
