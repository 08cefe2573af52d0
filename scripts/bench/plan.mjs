// The sizes of the full run and the quick one.

/**
 * What every measure gets.
 * @typedef {object} Context
 * @property {import("./workbench.mjs").Workbench} bench
 * @property {import("./tools.mjs").Tools} tools
 * @property {string} daemon the blemeesd.js to measure; its other programs are beside it
 * @property {Plan} plan
 * @property {(text: string) => void} progress
 *
 * @typedef {typeof FULL} Plan
 */

export const FULL = {
  starts: 7,
  turns: 40,
  coldTurns: 5,
  latencyRate: 200,
  latencySeconds: 2,
  latencyRounds: 5,
  pings: 400,
  /** About a second per round, so that starting a turn does not count. */
  floodEvents: 200_000,
  floodRounds: 5,
  floodSessions: [8],
  /** Until V8 has compiled the hot code. */
  warmUpEvents: 100_000,
  historyEvents: 200_000,
  rssSessions: 32,
  replayRounds: 5,
  resumeEvents: 1000,
  resumeSessions: 7,
  rawTurns: 15,
  /** The guard compares with the one in the middle. */
  guardAttempts: 5,
  stdioSessions: [1, 8, 32],
  cpuRate: 5000,
  cpuSeconds: 2.5,
  cpuRounds: 5,
  idleSeconds: 1,
  agentSessions: 10,
  httpCold: 150,
  httpActive: 50,
  /** Events per second of each active session. */
  httpRate: 20,
  httpRequests: 400,
  decisions: 20_000,
  texts: 1_000_000,
  commands: 60,
  /** Of a repository whose turns are recorded. */
  checkpointFiles: 100_000,
  /** Sessions of the past. */
  growthSessions: [100, 1_000, 10_000, 100_000],
  growthRounds: 5,
  /** Events for the terminal UI, then for the dashboard. */
  faceEvents: 20_000,
  faceRate: 500,
  curveSessions: [1, 10, 100, 1000],
  curveWatchers: [1, 10, 100],
  curveEvents: [1e3, 1e4, 1e5, 1e6],
  curveRequests: 40,
};

/** @type {Plan} */
export const QUICK = {
  ...FULL,
  starts: 3,
  turns: 10,
  coldTurns: 2,
  latencySeconds: 1,
  latencyRounds: 1,
  pings: 200,
  floodEvents: 60_000,
  floodRounds: 2,
  warmUpEvents: 30_000,
  replayRounds: 3,
  resumeSessions: 3,
  rawTurns: 5,
  guardAttempts: 1,
  checkpointFiles: 20_000,
  cpuSeconds: 1,
  cpuRounds: 1,
  idleSeconds: 0.4,
  httpRequests: 100,
  decisions: 4_000,
  texts: 50_000,
  commands: 20,
  growthSessions: [1_000, 10_000],
  growthRounds: 3,
  faceEvents: 3_000,
  curveSessions: [1, 10, 100],
  curveEvents: [1e3, 1e4, 1e5],
  curveRequests: 10,
};
