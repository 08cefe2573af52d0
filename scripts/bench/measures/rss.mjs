// Resident memory of the daemon: fresh and idle, and after many events in one session.
import { setTimeout as sleep } from "node:timers/promises";
import { Load } from "../load.mjs";
import { IS_LINUX, memoryMb } from "../proc.mjs";
import { startDaemon } from "../targets.mjs";

const SETTLE_MS = 1000;

/** @param {import("../plan.mjs").Context} context */
export async function rss(context) {
  if (!IS_LINUX) return [];
  const { plan, progress } = context;
  progress(`${plan.historyEvents} events`);
  const daemon = await startDaemon(context, "durable");
  await sleep(SETTLE_MS);
  const idle = memoryMb(daemon.pid, "VmRSS");
  const load = await Load.open(context, daemon.socketPath, 1);
  await load.flood(plan.historyEvents);
  await sleep(SETTLE_MS);
  const after = memoryMb(daemon.pid, "VmRSS");
  const peak = memoryMb(daemon.pid, "VmHWM");
  await load.close();
  await daemon.stop();
  const row = (/** @type {string} */ id, /** @type {string} */ measure, /** @type {number} */ value) => ({
    id,
    measure,
    store: "durable",
    unit: "MB",
    value,
  });
  const thousands = `${plan.historyEvents / 1000}k events`;
  return [
    row("rss.idle", "RSS idle", idle),
    row("rss.after", `RSS after ${thousands}`, after),
    row("rss.peak", `RSS peak within ${thousands}`, peak),
  ];
}
