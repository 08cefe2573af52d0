// The phases of a session and the allowed transitions. docs/architecture.md draws its diagram from this table, and the
// property tests check that exactly these transitions happen.
import type { Phase } from "./state.ts";

export type PhaseName = Phase["name"];

export const PHASES: Readonly<Record<PhaseName, { means: string; next: readonly PhaseName[] }>> = {
  cold: {
    means:
      "no agent is running; the next message or open starts it, or one that outlived the daemon is adopted",
    next: ["starting", "ready", "turn", "closed"],
  },
  starting: { means: "the agent is starting", next: ["ready", "turn", "interrupting", "cold"] },
  ready: { means: "the agent is up and idle", next: ["turn", "interrupting", "stopping", "cold"] },
  turn: {
    means: "a turn is running",
    next: ["ready", "interrupting", "stopping", "starting", "cold"],
  },
  interrupting: {
    means: "the agent was asked to stop; its turn may already have a result",
    next: ["ready", "turn", "stopping", "starting", "cold"],
  },
  stopping: { means: "the agent is being stopped", next: ["cold"] },
  closed: { means: "final", next: [] },
};
