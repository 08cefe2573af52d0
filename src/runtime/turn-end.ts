// The end of a turn, told and reported: the same for our loop and for that of another agent.
import { messageOf } from "../base/coded-error.ts";
import type { TurnEnd } from "./events.ts";
import type { ProviderFailure } from "./providers/types.ts";
import type { Services } from "./services.ts";
import type { TurnReport } from "./session-types.ts";

export interface End {
  outcome: TurnEnd;
  message?: string;
  failure?: ProviderFailure;
}

/** Of what nobody expected. */
export function bugEnd(error: unknown): End {
  const message = `demian itself failed: ${messageOf(error)}; this is a bug, please report it`;
  return { outcome: "failed", message, failure: { kind: "protocol", message } };
}

export function reportEnd(
  { emit }: Services,
  { outcome, message, failure }: End,
  work: Pick<TurnReport, "text" | "turns" | "usage" | "plan">,
): TurnReport {
  const { turns, usage } = work;
  const why = failure === undefined ? {} : { failure };
  emit({ type: "turn.ended", outcome, turns, usage, ...why });
  return { outcome, ...work, ...why, ...(message === undefined ? {} : { message }) };
}
