// What became of a request, in a line or a table.
import { revealLine } from "../base/sanitize.ts";
import type { Answer, RequestRow } from "../client/index.ts";
import { duration } from "./duration.ts";
import { table } from "./output.ts";
import { BLEMEESCTL_WORDS, type RequestWords } from "./request-text.ts";

export function outcome(
  { request, repeated, notice }: { request: RequestRow; repeated: boolean; notice?: string | undefined },
  words: RequestWords = BLEMEESCTL_WORDS,
): string[] {
  const { answer, resolution_source, dispatched_at_ms } = request;
  const said = answer === undefined ? "answer" : answerText(answer, words);
  const notices = notice === undefined ? [] : [revealLine(notice)];
  if (repeated) return [`answered before: ${said} (${resolution_source ?? "?"})`, ...notices];
  const isTaken = dispatched_at_ms !== undefined;
  return [`${said}: ${isTaken ? "the agent has it" : "stored; the agent has not taken it yet"}`, ...notices];
}

/** Which answer it was, in a line. */
export function answerText(answer: Answer, { verbs }: RequestWords = BLEMEESCTL_WORDS): string {
  if ("decision" in answer) {
    const { decision, option, message, updated_input } = answer;
    const chosen = option === undefined ? [] : [`--option ${option}`];
    const input = updated_input === undefined ? [] : [`--input ${JSON.stringify(updated_input)}`];
    return revealLine(
      [verbs[decision], ...chosen, ...input, ...(message === undefined ? [] : [message])].join(" "),
    );
  }
  const pairs = Object.entries(answer.answers).map(([id, said]) => `${id}=${[said].flat().join(", ")}`);
  return revealLine(["answer", ...pairs].join(" "));
}

export function settledLines(rows: readonly RequestRow[], columns: number, nowMs: number): string[] {
  const cells = rows.map((row) => [
    row.request_id,
    row.session_id,
    row.status,
    `${duration(Math.max(0, nowMs - row.requested_at_ms))} ago`,
    row.payload.title,
  ]);
  return table([["REQUEST", "SESSION", "STATUS", "ASKED", "TITLE"], ...cells], columns);
}
