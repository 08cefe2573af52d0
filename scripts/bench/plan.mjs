// The sizes of the full run (about 5 minutes) and the quick one (about a minute).

/**
 * What every measure gets.
 * @typedef {object} Context
 * @property {import("./workbench.mjs").Workbench} bench
 * @property {{ kind: "c" | "node", agent: string, reader: string }} tools
 * @property {string} daemon the blemeesd.js to measure
 * @property {Plan} plan
 * @property {(text: string) => void} progress
 *
 * @typedef {typeof FULL} Plan
 */

export const FULL = {
  /** About a second per round, so that starting a turn does not count. */
  floodEvents: 200_000,
  floodRounds: 5,
  floodSessions: [1, 8, 32],
  /** Until V8 has compiled the hot code. */
  warmUpEvents: 100_000,
  latencyRate: 200,
  latencySeconds: 2,
  latencyRounds: 5,
  firstFrameTurns: 40,
  cpuRate: 5000,
  cpuSeconds: 2.5,
  cpuRounds: 3,
  idleSeconds: 1,
  historyEvents: 200_000,
  replayRounds: 5,
  coldStarts: 7,
  agentSessions: 10,
  httpCold: 150,
  httpActive: 50,
  /** Events per second of each active session. */
  httpRate: 20,
  httpRequests: 400,
  /** Sessions of the past. */
  growthSessions: [100, 1_000, 10_000, 100_000],
  growthRounds: 5,
  /** Events for the terminal UI, then for the dashboard. */
  faceEvents: 20_000,
  faceRate: 500,
};

/** @type {Plan} */
export const QUICK = {
  ...FULL,
  floodEvents: 60_000,
  floodRounds: 2,
  warmUpEvents: 30_000,
  latencySeconds: 1,
  latencyRounds: 1,
  firstFrameTurns: 10,
  cpuSeconds: 1,
  cpuRounds: 1,
  idleSeconds: 0.4,
  replayRounds: 3,
  coldStarts: 5,
  httpRequests: 100,
  growthSessions: [1_000, 10_000],
  growthRounds: 3,
  faceEvents: 3_000,
};
