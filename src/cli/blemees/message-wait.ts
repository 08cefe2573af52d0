// `--wait`: waits until a message's turn ends or its agent asks something, then prints the answer.

import { CodedError } from "../../base/coded-error.ts";
import { defined } from "../../base/values.ts";
import type { HttpClient, SessionView, WaitOptions, WaitReply } from "../../client/index.ts";
import { UsageError } from "../command.ts";
import type { BlemeesContext } from "./command.ts";
import { describeSession } from "./find.ts";
import { EXIT, judgeWait, readAnswer, toBlockedHint } from "./outcome.ts";
import { cancelWakes } from "./own-wakes.ts";

export interface Sent {
  session: SessionView;
  message_id: string;
  /** An event before the message. */
  since_seq: number;
  /** Fields of the `--json` document. */
  reply: object;
}

/** An agent that waits for the end of its own turn would wait forever. */
export function refuseOwnTurn(session: SessionView, self: string | undefined, todo: string): void {
  if (session.session_id !== self || session.turn === undefined) return;
  throw new UsageError(
    `${describeSession(session)} is this agent's own session: its turn cannot end while this waits; ${todo}, then end the turn`,
  );
}

/** If the daemon is away when the time is up, reports the session as last seen. */
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
  context: BlemeesContext,
  { session, message_id, since_seq, reply }: Sent,
  timeoutMs: number | undefined,
): Promise<number> {
  const { output, signal } = context;
  const limit = defined({ timeoutMs });
  const waited = await waitInTime(http, session, { message_id, until: ["blocked"], signal, ...limit });
  if (waited.reason !== "timeout") await cancelWakes(http, context.self, waited.session);
  const { code, text } = judgeWait(waited);
  const isOver = waited.reason !== "timeout" && waited.reason !== "blocked";
  const answer = isOver
    ? await readAnswer(http, waited.session, since_seq, waited.input?.turn_id)
    : undefined;
  if (context.isJson) {
    await output.json({
      ...reply,
      reason: waited.reason,
      exit_code: code,
      ...defined({ input: waited.input, answer }),
      session: waited.session,
    });
    return code;
  }
  if (answer !== undefined) await output.line(answer);
  if (code !== EXIT.done) output.error(`${describeSession(waited.session)}: ${text}`);
  if (code === EXIT.blocked)
    output.ask(`Show it with: ${context.words.program} ${toBlockedHint(waited.session)}`);
  return code;
}
