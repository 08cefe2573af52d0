// The outcome of a request, in a line or a table.
import { revealLine } from "../base/sanitize.ts";
import type { Answer, Decision, RequestRow } from "../client/index.ts";
import { describeAnswerer, formatAnswerer } from "../client/view/answerer.ts";
import { formatAge } from "../client/view/format.ts";
import { formatTable } from "./output.ts";
import { BLEMEESCTL_WORDS, type RequestWords } from "./request-text.ts";

export function formatOutcome(
  { request, repeated, notice }: { request: RequestRow; repeated: boolean; notice?: string | undefined },
  words: RequestWords = BLEMEESCTL_WORDS,
): string[] {
  const { answer, dispatched_at_ms } = request;
  const notices = notice === undefined ? [] : [revealLine(notice)];
  if (repeated) {
    const said = answer === undefined ? "answer" : answerText(answer, words);
    const by = describeAnswerer(request);
    return [`Already answered${by === undefined ? "" : ` ${by}`}: ${said}`, ...notices];
  }
  const done = answer !== undefined && "decision" in answer ? DONE[answer.decision] : "Answered";
  const isSent = dispatched_at_ms !== undefined;
  return [`${done}; ${isSent ? "sent to the agent" : "stored, not yet sent to the agent"}.`, ...notices];
}

const DONE: Readonly<Record<Decision, string>> = {
  accept: "Approved",
  acceptForSession: "Approved for this session",
  acceptAlways: "Approved permanently",
  decline: "Declined",
  cancel: "Declined, turn stopped",
};
/** An answer in one line. */
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

export function formatSettled(rows: readonly RequestRow[], columns: number, nowMs: number): string[] {
  const cells = rows.map((row) => [
    row.request_id,
    row.session_id,
    row.status,
    formatAnswerer(row) ?? "",
    `${formatAge(nowMs - row.requested_at_ms)} ago`,
    row.payload.title,
  ]);
  return formatTable([["REQUEST", "SESSION", "STATUS", "ANSWERED BY", "ASKED", "TITLE"], ...cells], columns);
}
