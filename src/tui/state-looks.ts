// Sign and color of each session state, in the list and on the session screen.
import type { SessionView } from "../client/view/types.ts";
import { STYLE } from "./rows/style.ts";

export interface StateLook {
  sign: string;
  style: string;
}

export const STATE_LOOKS: Readonly<Record<SessionView["activity_state"], StateLook>> = {
  working: { sign: "●", style: STYLE.good },
  thinking: { sign: "●", style: STYLE.good },
  waiting_input: { sign: "?", style: STYLE.warn },
  waiting_permission: { sign: "?", style: STYLE.warn },
  idle: { sign: "○", style: STYLE.none },
  starting: { sign: "◌", style: STYLE.good },
  stopped: { sign: "·", style: STYLE.dim },
};
