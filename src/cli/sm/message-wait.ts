// `--wait`: until the turn of a message has ended, or its agent asks something; then the answer is printed.
import { CodedError } from "../../base/coded-error.ts";
import type { HttpClient, SessionView, WaitOptions, WaitReply } from "../../client/index.ts";
import { UsageError } from "../command.ts";
import type { Context } from "./command.ts";
import { titleOf } from "./find.ts";
import { answerOf, EXIT, verdictOf } from "./outcome.ts";
import { cancelWakes } from "./own-wakes.ts";

export interface Sent {
  session: SessionView;
  message_id: string;
  /** An event before the message. */
  since_seq: number;
  /** What is printed with `--json` beside what came of it. */
  reply: object;
}

/** Whoever waits inside a turn for the end of that turn waits for ever. */
export function checkNotOwnTurn(session: SessionView, self: string | undefined, todo: string): void {
  if (session.session_id !== self || session.turn === undefined) return;
  throw new UsageError(
    `${titleOf(session)} is the session of this agent: its turn goes on as long as this waits, so the wait would never end; ${todo}, and end the turn`,
  );
}

/** A daemon that is away when the time is over does not make it longer: the session is then as it was last seen. */
export async function waitInTime(
  http: HttpClient,
  session: SessionView,
  options: WaitOptions,
): Promise<WaitReply> {
  try {
    return await http.wait(session.session_id, options);
  } catch (error) {
    if (!(error instanceof CodedError) || error.code !== "timeout") throw error;
    return { reason: "timeout", session };
  }
}

export async function printAnswer(
  http: HttpClient,
  context: Context,
  { session, message_id, since_seq, reply }: Sent,
  timeoutMs: number | undefined,
): Promise<number> {
  const { output, signal } = context;
  const limit = timeoutMs === undefined ? {} : { timeoutMs };
  const waited = await waitInTime(http, session, { message_id, until: ["blocked"], signal, ...limit });
  if (waited.reason !== "timeout") await cancelWakes(http, context.self, waited.session);
  const { code, text } = verdictOf(waited);
  const isOver = waited.reason !== "timeout" && waited.reason !== "blocked";
  const answer = isOver ? await answerOf(http, waited.session, since_seq, waited.input?.turn_id) : undefined;
  if (context.isJson) {
    await output.json({
      ...reply,
      reason: waited.reason,
      exit_code: code,
      ...(waited.input === undefined ? {} : { input: waited.input }),
      ...(answer === undefined ? {} : { answer }),
      session: waited.session,
    });
    return code;
  }
  if (answer !== undefined) await output.line(answer);
  if (code !== EXIT.done) output.error(`${titleOf(waited.session)}: ${text}`);
  if (code === EXIT.blocked) output.ask(`see it with: sm requests ${session.session_id}`);
  return code;
}
