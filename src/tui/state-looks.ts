// Sign and color of each session state, in the list and on the session screen.
import type { ShownState } from "../client/view/format.ts";
import { combineStyles, STYLE } from "./rows/style.ts";

export interface StateLook {
  sign: string;
  style: string;
}

const WAITS = { sign: "?", style: combineStyles(STYLE.bold, STYLE.warn) };

const LOOKS: Readonly<Record<ShownState, StateLook>> = {
  working: { sign: "●", style: STYLE.good },
  thinking: { sign: "●", style: STYLE.good },
  waiting_input: WAITS,
  waiting_permission: WAITS,
  idle: { sign: "○", style: STYLE.none },
  starting: { sign: "◌", style: STYLE.good },
  waiting_quota: { sign: "◷", style: STYLE.warn },
  stopped: { sign: "·", style: STYLE.dim },
  stalled: { sign: "!", style: STYLE.warn },
  held: { sign: "!", style: STYLE.warn },
  failed: { sign: "✗", style: STYLE.bad },
};

/** `state`: also one that is not known, before the first event or from a newer daemon. */
export function findLook(state: string): StateLook {
  return (LOOKS as Partial<Record<string, StateLook>>)[state] ?? LOOKS.stopped;
}
