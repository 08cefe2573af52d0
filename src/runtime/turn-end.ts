// Ends a turn: emits its last event and returns its report, for our loop and external ones.

import { toMessage } from "../base/coded-error.ts";
import { defined } from "../base/values.ts";
import type { TurnEnd } from "./events.ts";
import type { ProviderFailure } from "./providers/types.ts";
import type { Services } from "./services.ts";
import type { TurnReport } from "./session-types.ts";

export interface End {
  outcome: TurnEnd;
  message?: string;
  failure?: ProviderFailure;
}

/** The end of a turn that hit a bug. */
export function toBugEnd(error: unknown): End {
  const message = `internal error in demian: ${toMessage(error)}; please report this bug`;
  return { outcome: "failed", message, failure: { kind: "protocol", message } };
}

export function reportEnd(
  { emit }: Services,
  { outcome, message, failure }: End,
  work: Pick<TurnReport, "text" | "turns" | "usage" | "plan">,
): TurnReport {
  const { turns, usage } = work;
  const why = defined({ failure });
  emit({ type: "turn.ended", outcome, turns, usage, ...why });
  return { outcome, ...work, ...why, ...defined({ message }) };
}
