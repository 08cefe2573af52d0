// A session's state as sign, word and color; never color alone. Pure.

import { STATE_LABELS } from "../../client/view/format.ts";
import type { SessionView } from "../../client/view/types.ts";
import { combineStyles, STYLE } from "../rows/style.ts";
import { STATE_LOOKS, type StateLook } from "../state-looks.ts";

export interface Sign extends StateLook {
  word: string;
}

type State = SessionView["activity_state"];

/** The most urgent state. */
export function getSign(session: SessionView): Sign {
  const { activity_state, pending_requests, family_pending_requests, stalled, held, failed } = session;
  if (pending_requests > 0) {
    const asks = activity_state === "waiting_input" ? "waiting_input" : "waiting_permission";
    return { ...getStateSign(asks), style: combineStyles(STYLE.bold, STYLE.warn) };
  }
  if (stalled) return { sign: "!", word: "stalled", style: STYLE.warn };
  const active = getStateSign(activity_state);
  const isAtRest = activity_state === "idle" || activity_state === "stopped";
  if (!isAtRest) return active;
  if (held !== undefined) return { sign: "!", word: "held", style: STYLE.warn };
  if (failed) return { sign: "✗", word: "failed", style: STYLE.bad };
  if (family_pending_requests > 0) return { ...active, word: `${active.word}, ? below` };
  return active;
}

function getStateSign(state: State): Sign {
  return { ...STATE_LOOKS[state], word: STATE_LABELS[state] };
}
