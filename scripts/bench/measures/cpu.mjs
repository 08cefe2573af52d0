// CPU time per event when each arrives alone: wake-ups, not parsing, dominate the cost of a real agent's stream. All
// threads of the process, minus what it uses while its session is idle.
import { setTimeout as sleep } from "node:timers/promises";
import { STORES, withLanes } from "../lanes.mjs";
import { cpuSeconds, IS_LINUX } from "../proc.mjs";
import { rounds, toRow } from "../rounds.mjs";

const SETTLE_MS = 200;

/** @param {import("../plan.mjs").Context} context */
export async function cpu(context) {
  if (!IS_LINUX) return [];
  const { plan, progress } = context;
  progress(`${plan.cpuRate} single-line events/s`);
  const all = await withLanes(context, 1, async (lanes) => {
    await rounds(lanes, 1, ({ load }) => load.pace(plan.cpuRate, 0.5));
    return rounds(lanes, plan.cpuRounds, (lane) => cpuOfEvent(plan, lane));
  });
  return STORES.map((store) =>
    toRow(
      { id: `cpu.${store}`, measure: `CPU an event, ${plan.cpuRate}/s`, store, unit: "µs" },
      all[store],
      all.relay,
    ),
  );
}

/**
 * @param {import("../plan.mjs").Plan} plan
 * @param {import("../lanes.mjs").Lane} lane
 * @returns {Promise<number>} µs
 */
async function cpuOfEvent(plan, { pid, load }) {
  await sleep(SETTLE_MS);
  const idleFrom = cpuSeconds(pid);
  await sleep(plan.idleSeconds * 1000);
  const idleShare = (cpuSeconds(pid) - idleFrom) / plan.idleSeconds;
  const busyFrom = cpuSeconds(pid);
  const { deltas, elapsed_ns } = await load.pace(plan.cpuRate, plan.cpuSeconds);
  const seconds = elapsed_ns / 1e9;
  if (seconds > plan.cpuSeconds * 1.1) {
    process.stderr.write(`bench: cpu: the agent was slowed down: ${Math.round(deltas / seconds)} events/s\n`);
  }
  return ((cpuSeconds(pid) - busyFrom - idleShare * seconds) / deltas) * 1e6;
}
