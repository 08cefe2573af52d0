// A session's state as sign, word and color; never color alone. Pure.

import { findShownState, formatState } from "../../client/view/format.ts";
import type { SessionView } from "../../client/view/types.ts";
import { findLook, type StateLook } from "../state-looks.ts";

export interface Sign extends StateLook {
  word: string;
}

export function getSign(session: SessionView): Sign {
  const state = findShownState(session);
  const word = formatState(session);
  const isBelow = (state === "idle" || state === "stopped") && session.family_pending_requests > 0;
  return { ...findLook(state), word: isBelow ? `${word}, ? below` : word };
}
