// How latency and memory grow with live sessions, with watchers of one session and with the events of one session.
import { setTimeout as sleep } from "node:timers/promises";
import { Http } from "../http.mjs";
import { Load } from "../load.mjs";
import { cpuSeconds, IS_LINUX, memoryMb } from "../proc.mjs";
import { median } from "../rounds.mjs";
import { startDaemon } from "../targets.mjs";

const SETTLE_MS = 1000;
/** Events a second of each session: a thousand of them must not need more than the machine has. */
const STREAM_RATE = 5;
const STREAM_SECONDS = 4;
const ENV = { BLEMEESD_MAX_SESSIONS: "100000", BLEMEESD_SHUTDOWN_GRACE: "0" };

/** @param {import("../plan.mjs").Context} context */
export async function curveOfSessions(context) {
  const rows = [];
  for (const count of context.plan.curveSessions) {
    context.progress(`${count} live sessions`);
    const row = rowMaker("sessions", count, `${count} live session${count > 1 ? "s" : ""}`);
    rows.push(
      ...(await withDaemon(context, async ({ pid, socketPath }, http) => {
        const load = await Load.open(context, socketPath, count);
        await load.say();
        await sleep(SETTLE_MS);
        const idle = [
          row("open", "open, each", "ms", (load.opened?.elapsed_ns ?? 0) / 1e6 / count),
          row("idle.list", "list while idle", "ms", await timeOf(context, http, "/sessions?limit=50")),
          ...memoryRow(row, "idle.rss", "RSS while idle", pid),
        ];
        const cpuFrom = IS_LINUX ? cpuSeconds(pid) : Number.NaN;
        const turn = load.pace(STREAM_RATE, STREAM_SECONDS);
        await sleep(SETTLE_MS);
        const list = await timeOf(context, http, "/sessions?limit=50");
        const { p50_ns, p99_ns, elapsed_ns } = await turn;
        const what = `${STREAM_RATE}/s each`;
        const share = IS_LINUX ? ((cpuSeconds(pid) - cpuFrom) / (elapsed_ns / 1e9)) * 100 : Number.NaN;
        const streaming = [
          row("streaming.list", `list, ${what}`, "ms", list),
          row("streaming.p50", `forward an event, ${what}, p50`, "ms", p50_ns / 1e6),
          row("streaming.p99", `forward an event, ${what}, p99`, "ms", p99_ns / 1e6),
          row("streaming.cpu", `share of a core, ${what}`, "%", share),
          ...memoryRow(row, "streaming.rss", `RSS, ${what}`, pid),
        ];
        await load.close();
        return [...idle, ...streaming];
      })),
    );
  }
  return rows;
}

/** @param {import("../plan.mjs").Context} context */
export async function curveOfWatchers(context) {
  const { plan } = context;
  const rows = [];
  for (const count of plan.curveWatchers) {
    context.progress(`${count} watchers`);
    const row = rowMaker("watchers", count, `${count} watcher${count > 1 ? "s" : ""}`);
    rows.push(
      ...(await withDaemon(context, async ({ pid, socketPath }) => {
        const load = await Load.open(context, socketPath, 1);
        await load.flood(plan.warmUpEvents);
        await load.attach(count);
        await load.pace(plan.latencyRate, 0.5);
        const cpuFrom = IS_LINUX ? cpuSeconds(pid) : Number.NaN;
        const { p50_ns, p99_ns } = await load.pace(plan.latencyRate, plan.latencySeconds);
        const events = plan.latencyRate * plan.latencySeconds;
        const cpuUs = IS_LINUX ? ((cpuSeconds(pid) - cpuFrom) / events) * 1e6 : Number.NaN;
        await load.close();
        return [
          row("p50", `forward an event, ${plan.latencyRate}/s, p50`, "ms", p50_ns / 1e6),
          row("p99", `forward an event, ${plan.latencyRate}/s, p99`, "ms", p99_ns / 1e6),
          row("cpu", "CPU an event", "µs", cpuUs),
          ...memoryRow(row, "rss", "RSS", pid),
        ];
      })),
    );
  }
  return rows;
}

/** @param {import("../plan.mjs").Context} context */
export async function curveOfHistory(context) {
  const rows = [];
  for (const count of context.plan.curveEvents) {
    context.progress(`${count} events in a session`);
    const row = rowMaker("history", count, `${count} events`);
    const directory = context.bench.makeDirectory();
    const id = await withDaemon(context, (target) => writeHistory(context, target, count), directory);
    rows.push(
      ...(await withDaemon(
        context,
        async ({ pid, socketPath }, http) => {
          const at = (/** @type {number} */ seq) => `/sessions/${id}/events?since_seq=${seq}&limit=100`;
          const cold = [
            row("list", "list", "ms", await timeOf(context, http, "/sessions?limit=50")),
            row("page.first", "first page", "ms", await timeOf(context, http, at(0))),
            row("page.middle", "middle page", "ms", await timeOf(context, http, at(Math.floor(count / 2)))),
            row("page.last", "last page", "ms", await timeOf(context, http, at(count - 100))),
            ...memoryRow(row, "rss", "RSS after pages", pid),
          ];
          const load = await Load.resume(context, socketPath, [id]);
          const read = (load.opened?.elapsed_ns ?? Number.NaN) / 1e6;
          await load.close();
          return [
            ...cold,
            row("resume", "resume and read it all", "ms", read),
            ...memoryRow(row, "rss.read", "RSS after it", pid),
          ];
        },
        directory,
      )),
    );
  }
  return rows;
}

/**
 * @param {import("../plan.mjs").Context} context
 * @param {import("../targets.mjs").Target} target
 * @param {number} count
 */
async function writeHistory(context, { socketPath }, count) {
  const load = await Load.open(context, socketPath, 1);
  await load.flood(count);
  await load.close();
  return /** @type {string} */ (load.ids[0]);
}

/**
 * @template R
 * @param {import("../plan.mjs").Context} context
 * @param {(target: import("../targets.mjs").Target, http: Http) => Promise<R>} run
 * @param {string} [directory]
 * @returns {Promise<R>}
 */
async function withDaemon(context, run, directory = context.bench.makeDirectory()) {
  const daemon = await startDaemon(context, "durable", { directory, env: ENV });
  const http = new Http(daemon.socketPath);
  try {
    return await run(daemon, http);
  } finally {
    http.close();
    await daemon.stop();
  }
}

/**
 * @param {string} curve
 * @param {number} count
 * @param {string} label
 */
function rowMaker(curve, count, label) {
  return (
    /** @type {string} */ key,
    /** @type {string} */ what,
    /** @type {string} */ unit,
    /** @type {number} */ value,
  ) => ({
    id: `curve.${curve}.${count}.${key}`,
    measure: `${label}: ${what}`,
    store: "durable",
    unit,
    value,
  });
}

/**
 * @param {ReturnType<typeof rowMaker>} row
 * @param {string} key
 * @param {string} what
 * @param {number} pid
 */
function memoryRow(row, key, what, pid) {
  return IS_LINUX ? [row(key, what, "MB", memoryMb(pid, "VmRSS"))] : [];
}

/**
 * @param {import("../plan.mjs").Context} context
 * @param {Http} http
 * @param {string} path
 */
async function timeOf({ plan }, http, path) {
  const times = [];
  for (let n = 0; n < plan.curveRequests; n++) times.push(await http.time(path));
  return median(times);
}
