// Relay, daemon in memory and daemon durable side by side, each with its own reader, sessions open and warm. One runs
// at a time; the others idle in their event loops and cost nothing.
import { Load } from "./load.mjs";
import { rounds } from "./rounds.mjs";
import { startDaemon, startRelay } from "./targets.mjs";

/** @typedef {{ name: "relay" | "memory" | "durable", pid: number, load: Load }} Lane */

export const STORES = /** @type {const} */ (["memory", "durable"]);

/**
 * @template R
 * @param {import("./plan.mjs").Context} context
 * @param {number} sessions
 * @param {(lanes: Lane[]) => Promise<R>} run
 * @param {readonly ("memory" | "durable")[]} stores
 * @returns {Promise<R>}
 */
export async function withLanes(context, sessions, run, stores = STORES) {
  const targets = [await startRelay(context)];
  for (const store of stores) targets.push(await startDaemon(context, store));
  /** @type {Lane[]} */
  const lanes = [];
  for (const { name, pid, socketPath } of targets) {
    lanes.push({ name, pid, load: await Load.open(context, socketPath, sessions) });
  }
  await rounds(lanes, 1, ({ load }) => load.flood(context.plan.warmUpEvents));
  const result = await run(lanes);
  for (const { load } of lanes) await load.close();
  for (const target of targets) await target.stop();
  return result;
}
