// Opens a session that only the store has, on a daemon that was restarted, until its last event is read.
import { Load } from "../load.mjs";
import { toRow } from "../rounds.mjs";
import { startDaemon } from "../targets.mjs";

/** @param {import("../plan.mjs").Context} context */
export async function resume(context) {
  const { bench, plan, progress } = context;
  progress(`${plan.resumeSessions} sessions with ${plan.resumeEvents} events`);
  const directory = bench.makeDirectory();
  const ids = await fill(context, directory);
  const daemon = await startDaemon(context, "durable", { directory });
  const times = [];
  for (const id of ids) {
    const load = await Load.resume(context, daemon.socketPath, [id]);
    times.push((load.opened?.elapsed_ns ?? Number.NaN) / 1e6);
    await load.close();
  }
  await daemon.stop();
  const measure = `resume a cold session with ${plan.resumeEvents} events`;
  return [toRow({ id: "resume", measure, store: "durable", unit: "ms" }, times)];
}

/**
 * @param {import("../plan.mjs").Context} context
 * @param {string} directory
 */
async function fill(context, directory) {
  const { plan } = context;
  const daemon = await startDaemon(context, "durable", { directory });
  const load = await Load.open(context, daemon.socketPath, plan.resumeSessions);
  await load.flood(plan.resumeEvents * plan.resumeSessions);
  await load.close();
  await daemon.stop();
  return load.ids;
}
