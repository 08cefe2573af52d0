// Does the same to each of several sessions: one that fails does not stop the others, and every outcome is reported.
import { CodedError, toMessage } from "../../base/coded-error.ts";
import { mapBounded } from "../../base/map-bounded.ts";
import { defined } from "../../base/values.ts";
import type { SessionView } from "../../client/index.ts";
import type { BlemeesContext } from "./command.ts";
import { describeSession } from "./find.ts";

/** As many calls at a time; the order of their reports is that of the sessions. */
const PARALLEL = 8;
/** After these nothing more can be done. */
const OVER: ReadonlySet<string> = new Set([
  "no_daemon",
  "connect_failed",
  "connection_lost",
  "daemon_shutdown",
]);

interface Outcome<R> {
  session: SessionView;
  reply?: R;
  /** Why nothing, or not all, was done. */
  error?: CodedError;
}

/** `describe`: what was done to one session. Returns the exit code. */
export async function runOnEach<R extends object>(
  context: BlemeesContext,
  sessions: readonly SessionView[],
  { act, describe }: { act: (session: SessionView) => Promise<R>; describe: (reply: R) => string },
): Promise<number> {
  let end: CodedError | undefined;
  const outcomes = await mapBounded(sessions, PARALLEL, async (session): Promise<Outcome<R>> => {
    if (context.signal.aborted) end ??= new CodedError("aborted", "stopped by Ctrl-C");
    if (end !== undefined) return { session, error: new CodedError(end.code, `not tried: ${end.message}`) };
    try {
      return { session, reply: await act(session) };
    } catch (thrown) {
      const error = thrown instanceof CodedError ? thrown : new CodedError("internal", toMessage(thrown));
      if (OVER.has(error.code)) end ??= error;
      return { session, error };
    }
  });
  return report(context, outcomes, describe);
}

async function report<R extends object>(
  { output, isJson }: BlemeesContext,
  outcomes: readonly Outcome<R>[],
  describe: (reply: R) => string,
): Promise<number> {
  const failed = outcomes.filter(({ error }) => error !== undefined);
  const exit_code = failed.length === 0 ? 0 : 1;
  if (isJson) {
    await output.json({ exit_code, results: outcomes.map(toResult) });
    return exit_code;
  }
  for (const { session, reply, error } of outcomes) {
    if (reply !== undefined) await output.line(`${describeSession(session)}: ${describe(reply)}`);
    if (error !== undefined) output.error(`${describeSession(session)}: ${error.message}`);
  }
  if (failed.length > 0)
    output.error(`done for ${outcomes.length - failed.length} of ${outcomes.length} sessions`);
  return exit_code;
}

function toResult<R extends object>({ session: { session_id, name }, reply, error }: Outcome<R>): object {
  return {
    session_id,
    ...defined({ name }),
    ok: error === undefined,
    ...defined({
      reply,
      error: error && { code: error.code, message: error.message, ...defined({ data: error.data }) },
    }),
  };
}
