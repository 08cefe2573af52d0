// `sm wait`: waits until sessions are idle, blocked or gone; the exit code says which.

import { setMaxListeners } from "node:events";
import { CodedError } from "../../base/coded-error.ts";
import { defined } from "../../base/values.ts";
import type { HttpClient, SessionView, WaitReply } from "../../client/index.ts";
import { type Arguments, defineFlag, readNumberFlag } from "../command.ts";
import { ANY } from "../program.ts";
import type { BlemeesCommand, BlemeesContext } from "./command.ts";
import { describeSession } from "./find.ts";
import { refuseOwnTurn, waitInTime } from "./message-wait.ts";
import { EXIT, EXIT_NOTES, judgeWait, toBlockedHint, type Verdict } from "./outcome.ts";
import { cancelWakes } from "./own-wakes.ts";
import { SELECTING, SELECTING_NOTES, selectSessions } from "./select.ts";

export const WAIT: BlemeesCommand = {
  name: "wait",
  usage: "wait ID…",
  summary: "wait until sessions are idle, need an answer, or have stopped",
  words: [0, ANY],
  completes: "session",
  flags: [
    defineFlag("-t, --timeout S", "timeout in seconds"),
    defineFlag("--any", "return after the first one, not all"),
    ...SELECTING,
  ],
  examples: ["wait fixer --timeout 600 && sm show fixer", "wait --any a b c", "wait --children-of manager"],
  notes: [
    ...SELECTING_NOTES.slice(0, 2),
    "Exit status:",
    ...EXIT_NOTES,
    "For several sessions, the highest one. Inside an agent, the wake message of a child that it waited for is removed",
    "from its queue.",
  ],
  async run(given, context) {
    const timeout = readNumberFlag(given, "timeout");
    const http = await context.connect();
    const sessions = await findSessions(http, given, context);
    if (sessions === undefined) return EXIT.gone;
    for (const session of sessions) refuseOwnTurn(session, context.self, "wait for others");
    const ends = await waitFor(http, sessions, {
      isAny: given.flags["any"] === true,
      ...(timeout === undefined ? {} : { timeoutMs: timeout * 1000 }),
      signal: context.signal,
      onEnd: (end) => report(end, context),
    });
    for (const { reason, session } of ends) {
      if (reason !== "timeout") await cancelWakes(http, context.self, session);
    }
    const code = Math.max(...ends.map(({ verdict }) => verdict.code));
    if (context.isJson) {
      await context.output.json({
        exit_code: code,
        sessions: ends.map(({ reason, session, verdict }) => ({ reason, exit_code: verdict.code, session })),
      });
    }
    return code;
  },
};

/** An unknown session counts as gone. */
async function findSessions(
  http: HttpClient,
  given: Arguments,
  { output, isJson, words, self }: BlemeesContext,
): Promise<readonly SessionView[] | undefined> {
  try {
    return (await selectSessions(http, given, given.words, { self })).sessions;
  } catch (error) {
    if (!(error instanceof CodedError) || error.code !== "session_unknown") throw error;
    if (isJson) await output.json({ exit_code: EXIT.gone, sessions: [], message: error.message });
    else output.error(`${words.program}: ${error.message}`);
    return undefined;
  }
}

interface End {
  reason: WaitReply["reason"] | "gone";
  session: SessionView;
  verdict: Verdict;
}

interface WaitHow {
  isAny: boolean;
  timeoutMs?: number;
  signal: AbortSignal;
  onEnd(end: End): Promise<void>;
}

/** With `isAny` only the first one, otherwise all, in the order in which they ended. */
async function waitFor(http: HttpClient, sessions: readonly SessionView[], how: WaitHow): Promise<End[]> {
  const enough = new AbortController();
  const signal = AbortSignal.any([how.signal, enough.signal]);
  // Each session's wait listens to it.
  setMaxListeners(0, signal);
  const ends: End[] = [];
  const waits = sessions.map(async (session) => {
    const end = await waitForOne(http, session, how.timeoutMs, signal);
    if (how.isAny && ends.length > 0) return;
    ends.push(end);
    if (how.isAny) enough.abort();
    await how.onEnd(end);
  });
  const settled = await Promise.allSettled(waits);
  const failed = settled.find((result) => result.status === "rejected");
  if (failed !== undefined && !(how.isAny && ends.length > 0)) throw failed.reason;
  return ends;
}

async function waitForOne(
  http: HttpClient,
  session: SessionView,
  timeoutMs: number | undefined,
  signal: AbortSignal,
): Promise<End> {
  try {
    const limit = defined({ timeoutMs });
    const reply = await waitInTime(http, session, { signal, ...limit });
    return { reason: reply.reason, session: reply.session, verdict: judgeWait(reply) };
  } catch (error) {
    if (!(error instanceof CodedError) || error.code !== "session_unknown") throw error;
    return { reason: "gone", session, verdict: { code: EXIT.gone, text: "gone" } };
  }
}

async function report({ session, verdict }: End, { output, isJson, words }: BlemeesContext): Promise<void> {
  if (isJson) return;
  const hint = verdict.code === EXIT.blocked ? ` (${words.program} ${toBlockedHint(session)})` : "";
  await output.line(`${describeSession(session)}: ${verdict.text}${hint}`);
}
