// Resident memory of the daemon: fresh and idle, and after many events in many sessions.
import { setTimeout as sleep } from "node:timers/promises";
import { Load } from "../load.mjs";
import { IS_LINUX, memoryMb } from "../proc.mjs";
import { startDaemon, startRelay } from "../targets.mjs";

const SETTLE_MS = 1000;

/** @param {import("../plan.mjs").Context} context */
export async function rss(context) {
  if (!IS_LINUX) return [];
  const { plan, progress } = context;
  progress(`${plan.historyEvents} events in ${plan.rssSessions} sessions`);
  const relay = await memoryOf(context, await startRelay(context));
  const daemon = await memoryOf(context, await startDaemon(context, "durable"));
  const what = `${plan.historyEvents / 1000}k events, ${plan.rssSessions} sessions`;
  const names = { idle: "RSS idle", after: `RSS after ${what}`, peak: `RSS peak within ${what}` };
  return /** @type {const} */ (["idle", "after", "peak"]).map((name) => ({
    id: `rss.${name}`,
    measure: names[name],
    store: "durable",
    unit: "MB",
    value: daemon[name],
    reference: relay[name],
  }));
}

/**
 * @param {import("../plan.mjs").Context} context
 * @param {import("../targets.mjs").Target} target
 */
async function memoryOf(context, { pid, socketPath, stop }) {
  await sleep(SETTLE_MS);
  const idle = memoryMb(pid, "VmRSS");
  const load = await Load.open(context, socketPath, context.plan.rssSessions);
  await load.flood(context.plan.historyEvents);
  await sleep(SETTLE_MS);
  const after = memoryMb(pid, "VmRSS");
  const peak = memoryMb(pid, "VmHWM");
  await load.close();
  await stop();
  return { idle, after, peak };
}
