// Why a tool call that an agent asked permission for never ran. Free of schemas, so that browsers and the command line
// can use it without loading zod.
import type { RequestRow } from "./requests.ts";

/** Each reason with the words people read after "not run: ". */
export const NOT_RUN_WORDS = {
  declined: "declined",
  /** The request timed out, and policy declined it. */
  expired: "nobody answered",
  /** The agent took its request back. */
  withdrawn: "withdrawn",
  interrupted: "interrupted",
  agent_died: "the agent died",
  daemon_stopped: "the daemon stopped",
} as const;

export type NotRunReason = keyof typeof NOT_RUN_WORDS;

export const NOT_RUN_REASONS = Object.keys(NOT_RUN_WORDS) as [NotRunReason, ...NotRunReason[]];

/** "not run: declined". */
export function notRunText(reason: NotRunReason): string {
  return `not run: ${NOT_RUN_WORDS[reason]}`;
}

/** How one request about a call stands. `cancelled`: declined, and the turn stopped with it. */
export type Verdict =
  | "waiting"
  | "accepted"
  | "declined"
  | "cancelled"
  | "expired"
  | "withdrawn"
  | "agent_died"
  | "daemon_stopped";

export function verdictOf(row: Pick<RequestRow, "status" | "answer" | "error_code">): Verdict {
  const { status, answer, error_code } = row;
  if (status === "pending") return "waiting";
  // Policy's answer reached the agent, but nobody gave it.
  if (status === "expired" || error_code === "request_expired") return "expired";
  // An answer that the agent no longer took changed nothing.
  if (status === "withdrawn") return "withdrawn";
  // Whether an answer still reached an agent that died is not known: it counts.
  if (answer === undefined) return error_code === "server_restarted" ? "daemon_stopped" : "agent_died";
  const decision = "decision" in answer ? answer.decision : "accept";
  if (decision === "cancel") return "cancelled";
  return decision === "decline" ? "declined" : "accepted";
}

/**
 * Why a call did not run, from how the requests about it stand. Undefined: nothing was asked, or it was accepted.
 * `cause`: what ended the call while nobody had decided.
 */
export function notRunReason(verdicts: Iterable<Verdict>, cause: NotRunReason): NotRunReason | undefined {
  const all = new Set(verdicts);
  if (all.size === 0 || all.has("accepted")) return undefined;
  if (all.has("declined") || all.has("cancelled")) return "declined";
  return (["expired", "daemon_stopped", "agent_died"] as const).find((one) => all.has(one)) ?? cause;
}
