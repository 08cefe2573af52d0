// What `sm resume` would do to a session, and why. Pure.
import type { SessionView } from "../../client/index.ts";

export interface ResumePlan {
  session: SessionView;
  /**
   * `message`: its last turn was cut or failed, and the agent is asked to continue. `queue`: only messages that were never
   * delivered continue. `none`: there is nothing to do.
   */
  kind: "message" | "queue" | "none";
  /** What happened. */
  why: string;
}

/** Turns that ended with the daemon or with the agent's process. */
const CUTS: ReadonlySet<string> = new Set(["backend_crashed", "daemon_shutdown"]);

export function planResume(session: SessionView): ResumePlan {
  const { activity_state, pending_requests, turn, held, queued, stopped_at_ms, last_result, failed } =
    session;
  const none = (why: string): ResumePlan => ({ session, kind: "none", why });
  if (pending_requests > 0) return none("it waits for an answer: sm requests");
  if (turn !== undefined) return none("a turn is running");
  if (held !== undefined) return { session, kind: "queue", why: `held: ${held}` };
  if (stopped_at_ms !== undefined) {
    if (queued > 0) return { session, kind: "queue", why: "stopped, with messages in its queue" };
    return none("it was stopped on purpose: sm send starts it");
  }
  if (activity_state !== "idle" && activity_state !== "stopped") return none(`it is ${activity_state}`);
  if (queued > 0) return none("its queue continues by itself");
  const { subtype = "success", error } = last_result ?? {};
  if (error !== undefined && CUTS.has(error.code))
    return { session, kind: "message", why: `cut: ${error.message}` };
  if (failed === true && subtype !== "success" && subtype !== "interrupted")
    return { session, kind: "message", why: `failed: ${error?.message ?? subtype}` };
  if (failed === true) return none("a message could not be delivered; send it again: sm queue");
  if (subtype === "interrupted") return none("its turn was interrupted on purpose: sm send");
  return none(last_result === undefined ? "it had no turn yet" : "its last turn succeeded");
}

/** What is sent to agents whose turn was cut or failed. It repeats no message: that may have run in part. */
export const CONTINUE_TEXT =
  "Your last turn ended before you were done: it was cut off or failed. Parts of the work may be done already. Check what is done, repeat nothing that is, and continue where you left off.";

/** What is going to be done, for a list. */
export function describeTodo({ kind, session: { queued } }: ResumePlan): string {
  const messages = `${queued} queued message${queued === 1 ? "" : "s"}`;
  if (kind === "queue") return `deliver ${messages}; nothing else is sent`;
  if (kind === "message") return "ask it to continue; its last message is not repeated";
  return "nothing";
}
