// How a wait ended, as an exit code and in words; and what the agent answered.
import type { HttpClient, SessionView, WaitReply } from "../../client/index.ts";

export const EXIT = { done: 0, failed: 1, blocked: 3, gone: 4, timeout: 124 } as const;

export const EXIT_NOTES: readonly string[] = [
  "Exit status:",
  "  0    it is idle, its last turn went well",
  "  1    its last turn failed or was interrupted",
  "  3    it waits for you: a request is open (sm requests ID)",
  "  4    it was stopped, or is gone",
  "  124  the time is over, it still works",
];

export interface Verdict {
  code: number;
  text: string;
}

/** Pure. A session whose agent was merely put away after its turn counts by how that turn ended. */
export function verdictOf({ reason, session, input }: WaitReply): Verdict {
  if (reason === "timeout") return { code: EXIT.timeout, text: `still ${session.activity_state}` };
  if (reason === "blocked") return { code: EXIT.blocked, text: "waits for an answer" };
  if (input?.state === "cancelled") return { code: EXIT.gone, text: "the message was cancelled" };
  if (input?.state === "failed") {
    const why = input.error === undefined ? "" : `: ${input.error.message}`;
    return { code: EXIT.failed, text: `the message could not be delivered${why}` };
  }
  if (input?.outcome !== undefined) return ofTurn(input.outcome, session);
  if (reason === "stopped" && (session.stopped_at_ms !== undefined || session.last_result === undefined))
    return { code: EXIT.gone, text: "stopped" };
  return session.last_result === undefined
    ? { code: EXIT.done, text: "idle" }
    : ofTurn(session.last_result.subtype, session);
}

function ofTurn(subtype: string, { last_result }: SessionView): Verdict {
  if (subtype === "success") return { code: EXIT.done, text: "done" };
  const why = last_result?.error === undefined ? "" : `: ${last_result.error.message}`;
  return { code: EXIT.failed, text: `its turn ended with ${subtype}${why}` };
}

const PAGE = 1000;

/** What the agent said last in this turn. `since_seq`: an event before it. */
export async function answerOf(
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
      if (frame["type"] === "agent.message") said = textOf(frame["content"]) || said;
      if (frame["type"] !== "agent.result") continue;
      if (turn_id === undefined || frame["turn_id"] === turn_id) return said;
      said = undefined;
    }
    if (page.events.length === 0 || page.next_seq <= cursor) return said ?? session.last_result?.text;
    cursor = page.next_seq;
  }
}

export function textOf(content: unknown): string {
  if (!Array.isArray(content)) return "";
  return content.map((block) => (block?.type === "text" ? String(block.text ?? "") : "")).join("");
}
