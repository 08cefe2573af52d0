// `sm wait`: until sessions are idle, ask something, or are gone; the exit code says which.
import { CodedError } from "../../base/coded-error.ts";
import type { HttpClient, SessionView, WaitReply } from "../../client/index.ts";
import { ANY, type Command, type Context, numberFlag } from "./command.ts";
import { findSession, titleOf } from "./find.ts";
import { checkNotOwnTurn, waitInTime } from "./message-wait.ts";
import { EXIT, EXIT_NOTES, type Verdict, verdictOf } from "./outcome.ts";
import { cancelWakes } from "./own-wakes.ts";

export const WAIT: Command = {
  name: "wait",
  usage: "wait ID…",
  summary: "wait until sessions are idle, ask something or are gone",
  words: [1, ANY],
  completes: "session",
  flags: [
    { name: "timeout", short: "t", value: "S", summary: "at most so many seconds" },
    { name: "any", summary: "until the first of them, not all" },
  ],
  examples: ["wait fixer --timeout 600 && sm show fixer", "wait --any a b c"],
  notes: [
    ...EXIT_NOTES,
    "Of several sessions the highest one counts. Inside an agent, the message that would wake it for a child",
    "that was waited for is taken out of its queue.",
  ],
  async run(given, context) {
    const timeout = numberFlag(given, "timeout");
    const http = await context.connect();
    const sessions = await found(http, given.words, context);
    if (sessions === undefined) return EXIT.gone;
    for (const session of sessions) checkNotOwnTurn(session, context.self, "wait for others");
    const ends = await waitFor(http, sessions, {
      isAny: given.flags["any"] === true,
      ...(timeout === undefined ? {} : { timeoutMs: timeout * 1000 }),
      signal: context.signal,
      onEnd: (end) => tell(end, context),
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

/** One that is not there is gone; that it never was is told in the same breath. */
async function found(
  http: HttpClient,
  ids: readonly string[],
  { output, isJson }: Context,
): Promise<SessionView[] | undefined> {
  try {
    return await Promise.all(ids.map((id) => findSession(http, id)));
  } catch (error) {
    if (!(error instanceof CodedError) || error.code !== "session_unknown") throw error;
    if (isJson) await output.json({ exit_code: EXIT.gone, sessions: [], message: error.message });
    else output.error(`sm: ${error.message}`);
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

/** With `isAny` the first one that ends, else all, in the order in which they ended. */
async function waitFor(http: HttpClient, sessions: readonly SessionView[], how: WaitHow): Promise<End[]> {
  const enough = new AbortController();
  const signal = AbortSignal.any([how.signal, enough.signal]);
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
    const limit = timeoutMs === undefined ? {} : { timeoutMs };
    const reply = await waitInTime(http, session, { signal, ...limit });
    return { reason: reply.reason, session: reply.session, verdict: verdictOf(reply) };
  } catch (error) {
    if (!(error instanceof CodedError) || error.code !== "session_unknown") throw error;
    return { reason: "gone", session, verdict: { code: EXIT.gone, text: "gone" } };
  }
}

async function tell({ session, verdict }: End, { output, isJson }: Context): Promise<void> {
  if (isJson) return;
  const hint = verdict.code === EXIT.blocked ? ` (sm requests ${session.session_id})` : "";
  await output.line(`${titleOf(session)}: ${verdict.text}${hint}`);
}
