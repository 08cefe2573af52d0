// Requests in tables, and the outcome of one in a line.
import { revealLine } from "../base/sanitize.ts";
import type { Answer, Decision, RequestRow } from "../client/index.ts";
import { describeAnswerer, formatAnswerer } from "../client/view/answerer.ts";
import { getProject, nameAsker } from "../client/view/asker.ts";
import { formatAge } from "../client/view/format.ts";
import type { Askers, InboxItem } from "../client/view/inbox.ts";
import { summarizeRequest } from "../client/view/request-what.ts";
import { truncate } from "./bar.ts";
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

/** The beginning of an id that names its request. */
const SHORT_ID = "req_5a01f0d8".length;
const MAX_CELL = 24;

/** Oldest first, with lines that say how to show and answer them. */
export function formatPending(
  items: readonly InboxItem[],
  sessions: Askers,
  { columns, nowMs, words: { program, verbs } }: { columns: number; nowMs: number; words: RequestWords },
): string[] {
  if (items.length === 0) return [];
  const rows = items.flatMap(({ requests }) => requests);
  const cells = items.flatMap(({ requests: [row, ...others] }) => {
    if (row === undefined) return [];
    const session = sessions.get(row.session_id) ?? { session_id: row.session_id };
    const more = others.length === 0 ? "" : ` +${others.length}`;
    return [
      [
        formatAge(nowMs - row.requested_at_ms),
        `${truncate(revealLine(nameAsker(session)), MAX_CELL - more.length)}${more}`,
        truncate(revealLine(getProject(session) ?? ""), MAX_CELL),
        shortenRequestId(row, rows),
        revealLine(summarizeRequest(row, session.cwd)),
      ],
    ];
  });
  const isGrouped = items.some(({ requests }) => requests.length > 1);
  return [
    ...formatTable([["AGE", "SESSION", "PROJECT", "REQUEST", "WHAT"], ...cells], columns),
    ...(isGrouped
      ? [`+N: N other requests for the same. Answer all of them: ${program} ${verbs.accept} REQUEST --same.`]
      : []),
    `Show: ${program} requests SESSION|REQUEST. Answer: ${program} ${verbs.accept} SESSION|REQUEST (or ${verbs.decline}).`,
  ];
}

/** As much of the id as is needed to tell it from the others. */
function shortenRequestId({ request_id }: RequestRow, rows: readonly RequestRow[]): string {
  const short = request_id.slice(0, SHORT_ID);
  const isAlone = rows.filter((row) => row.request_id.startsWith(short)).length === 1;
  return revealLine(isAlone ? short : request_id);
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
