// The state of a session as a sign, a word and a colour: never only as a colour. Pure.
import type { SessionView } from "../../client/view/types.ts";
import { both, STYLE } from "../rows/style.ts";

export interface Sign {
  sign: string;
  word: string;
  style: string;
}

const ACTIVE: Record<SessionView["activity_state"], Sign> = {
  working: { sign: "●", word: "working", style: STYLE.good },
  thinking: { sign: "●", word: "thinking", style: STYLE.good },
  waiting_input: { sign: "?", word: "has a question", style: STYLE.warn },
  waiting_permission: { sign: "?", word: "needs approval", style: STYLE.warn },
  idle: { sign: "○", word: "idle", style: STYLE.none },
  stopped: { sign: "·", word: "stopped", style: STYLE.dim },
};

/** The most pressing thing about it. */
export function signOf(session: SessionView): Sign {
  const { activity_state, pending_requests, family_pending_requests, stalled, held, last_result } = session;
  if (pending_requests > 0) {
    const asks = activity_state === "waiting_input" ? ACTIVE.waiting_input : ACTIVE.waiting_permission;
    return { ...asks, style: both(STYLE.bold, STYLE.warn) };
  }
  if (stalled) return { sign: "!", word: "stalled", style: STYLE.warn };
  const active = ACTIVE[activity_state];
  const isAtRest = activity_state === "idle" || activity_state === "stopped";
  if (!isAtRest) return active;
  if (held !== undefined) return { sign: "!", word: "held", style: STYLE.warn };
  const hasFailed =
    last_result !== undefined && last_result.subtype !== "success" && last_result.subtype !== "interrupted";
  if (hasFailed) return { sign: "✗", word: "failed", style: STYLE.bad };
  if (family_pending_requests > 0) return { ...active, word: `${active.word}, ? below` };
  return active;
}
