// The phases of a session and which may follow which. The picture in docs/architecture.md is drawn from this table, and
// the property tests see that no other step is ever taken and that each of these is.
import type { Phase } from "./state.ts";

export type PhaseName = Phase["name"];

export const PHASES: Readonly<Record<PhaseName, { means: string; next: readonly PhaseName[] }>> = {
  cold: { means: "no agent runs; the next message or open starts it", next: ["starting", "closed"] },
  starting: { means: "the agent is on its way up", next: ["ready", "turn", "cold"] },
  ready: { means: "the agent is up and has no turn", next: ["turn", "interrupting", "stopping", "cold"] },
  turn: {
    means: "a turn runs; the only phase but `interrupting` that has one",
    next: ["ready", "interrupting", "stopping", "starting", "cold"],
  },
  interrupting: {
    means: "the agent was told to stop; its turn may have its result already",
    next: ["ready", "turn", "stopping", "starting", "cold"],
  },
  stopping: { means: "the agent is being ended", next: ["cold"] },
  closed: { means: "the end: nothing follows", next: [] },
};
