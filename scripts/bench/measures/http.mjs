// The list of sessions over HTTP while many of them stream, next to the smallest possible reply. Most sessions are only
// in the store, as in normal use: they were created by an earlier run of the daemon.
import { setTimeout as sleep } from "node:timers/promises";
import { Http } from "../http.mjs";
import { IS_LINUX, memoryMb } from "../proc.mjs";
import { quantile } from "../rounds.mjs";
import { startDaemon } from "../targets.mjs";

const PATHS = { list: "/sessions", health: "/health" };
/** A dashboard polls now and then, not as fast as it can. */
const PAUSE_MS = 5;
const MANY = "100000";

/** @param {import("../plan.mjs").Context} context */
export async function http(context) {
  const { plan, progress, bench } = context;
  const { httpCold, httpActive, httpRate } = plan;
  progress(`${httpCold + httpActive} sessions, ${httpActive} with ${httpRate} events/s each`);
  const directory = bench.makeDirectory();
  // Endless turns are not waited for at the end.
  const env = { BLEMEESD_MAX_SESSIONS: MANY, BLEMEESD_SHUTDOWN_GRACE: "0" };
  await fill(context, directory, env);
  const daemon = await startDaemon(context, "durable", { directory, env });
  const client = new Http(daemon.socketPath);
  try {
    const active = await startTurns(client, plan);
    const times = await timeBoth(client, plan.httpRequests);
    const list = await sessionsOf(client);
    const streaming = list.filter(({ turn }) => turn !== undefined).length;
    if (list.length !== httpCold + httpActive || streaming !== active.length) {
      throw new Error(`http: ${list.length} sessions, ${streaming} streaming at the end of the measurement`);
    }
    return rows(times, plan, IS_LINUX ? memoryMb(daemon.pid, "VmRSS") : undefined);
  } finally {
    client.close();
    await daemon.stop();
  }
}

/**
 * A daemon run that creates the sessions that will later be only in the store, each with one finished turn.
 * @param {import("../plan.mjs").Context} context
 * @param {string} directory
 * @param {Record<string, string>} env
 */
async function fill(context, directory, env) {
  const daemon = await startDaemon(context, "durable", { directory, env });
  const client = new Http(daemon.socketPath);
  for (let n = 0; n < context.plan.httpCold; n++) {
    const spawned = JSON.parse(
      await client.ask("POST", "/sessions", {
        backend: "demo",
        name: `cold ${n}`,
        prompt: "hello",
        options: { pace_ms: 0 },
      }),
    );
    await client.ask("GET", `/sessions/${spawned.session.session_id}/wait?until=idle`);
  }
  client.close();
  await daemon.stop();
}

/**
 * @param {Http} client
 * @param {import("../plan.mjs").Plan} plan
 * @returns {Promise<string[]>} ids of sessions whose turns run for as long as the daemon lives
 */
async function startTurns(client, { httpActive, httpRate }) {
  const ids = [];
  for (let n = 0; n < httpActive; n++) {
    const spawned = JSON.parse(
      await client.ask("POST", "/sessions", {
        backend: "claude",
        name: `active ${n}`,
        prompt: `pace ${httpRate} 600`,
        approvals: false,
      }),
    );
    ids.push(spawned.session.session_id);
  }
  for (;;) {
    const list = await sessionsOf(client);
    if (list.filter(({ activity_state }) => activity_state === "working").length >= httpActive) return ids;
    await sleep(PAUSE_MS);
  }
}

/**
 * @param {Http} client
 * @returns {Promise<{ session_id: string, activity_state: string, turn?: object }[]>}
 */
async function sessionsOf(client) {
  return JSON.parse(await client.ask("GET", PATHS.list)).sessions;
}

/**
 * Alternates between the two, so that a slow moment of the machine affects both.
 * @param {Http} client
 * @param {number} count
 */
async function timeBoth(client, count) {
  const times = { list: /** @type {number[]} */ ([]), health: /** @type {number[]} */ ([]) };
  for (const name of /** @type {const} */ (["list", "health"])) {
    for (let n = 0; n < count / 10; n++) await client.time(PATHS[name]); // until V8 has compiled it
  }
  for (let n = 0; n < count; n++) {
    for (const name of /** @type {const} */ (["list", "health"])) {
      times[name].push(await client.time(PATHS[name]));
      await sleep(PAUSE_MS);
    }
  }
  return times;
}

/**
 * @param {{ list: number[], health: number[] }} times
 * @param {import("../plan.mjs").Plan} plan
 * @param {number | undefined} megabytes
 */
function rows(times, { httpCold, httpActive }, megabytes) {
  const what = `${httpCold + httpActive} sessions, ${httpActive} active`;
  const latencies = /** @type {const} */ ([
    ["p50", 0.5],
    ["p99", 0.99],
  ]).map(([name, share]) => ({
    id: `http.list.${name}`,
    measure: `GET /sessions ${name}, ${what}`,
    store: "durable",
    unit: "ms",
    value: quantile(times.list, share),
    reference: quantile(times.health, share),
    reference_name: "GET /health",
  }));
  if (megabytes === undefined) return latencies;
  const memory = { id: "http.rss", measure: `RSS, ${what}`, store: "durable", unit: "MB", value: megabytes };
  return [...latencies, memory];
}
