// Why a tool call that needed permission never ran. Has no schemas, so that the browser and command line can use it without
// loading zod.
import type { RequestRow } from "./requests.ts";

/** Each reason with the text shown after "not run: ". */
export const NOT_RUN_TEXTS = {
  declined: "declined",
  /** The request timed out, and policy declined it. */
  expired: "no answer in time",
  /** The agent withdrew its request. */
  withdrawn: "withdrawn",
  interrupted: "interrupted",
  agent_died: "the agent died",
  daemon_stopped: "the daemon stopped",
} as const;

export type NotRunReason = keyof typeof NOT_RUN_TEXTS;

export const NOT_RUN_REASONS = Object.keys(NOT_RUN_TEXTS) as [NotRunReason, ...NotRunReason[]];

/** "not run: declined". */
export function formatNotRun(reason: NotRunReason): string {
  return `not run: ${NOT_RUN_TEXTS[reason]}`;
}

/** The state of one request about a call. `cancelled`: declined, and the turn was stopped. */
export type Verdict =
  | "waiting"
  | "accepted"
  | "declined"
  | "cancelled"
  | "expired"
  | "withdrawn"
  | "agent_died"
  | "daemon_stopped";

export function toVerdict(row: Pick<RequestRow, "status" | "answer" | "error_code">): Verdict {
  const { status, answer, error_code } = row;
  if (status === "pending") return "waiting";
  // The policy's answer reached the agent, but no client gave it.
  if (status === "expired" || error_code === "request_expired") return "expired";
  // The agent no longer took the answer, so it had no effect.
  if (status === "withdrawn") return "withdrawn";
  // It is unknown whether the answer reached an agent that died; assume it did.
  if (answer === undefined) return error_code === "server_restarted" ? "daemon_stopped" : "agent_died";
  const decision = "decision" in answer ? answer.decision : "accept";
  if (decision === "cancel") return "cancelled";
  return decision === "decline" ? "declined" : "accepted";
}

/**
 * Why a call did not run, given the states of its requests. Undefined: nothing was asked, or it was accepted.
 * `cause`: what ended the call before a decision.
 */
export function findNotRunReason(verdicts: Iterable<Verdict>, cause: NotRunReason): NotRunReason | undefined {
  const all = new Set(verdicts);
  if (all.size === 0 || all.has("accepted")) return undefined;
  if (all.has("declined") || all.has("cancelled")) return "declined";
  return (["expired", "daemon_stopped", "agent_died"] as const).find((one) => all.has(one)) ?? cause;
}
