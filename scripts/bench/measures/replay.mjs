// Reads a session's whole history on a new connection while the session is live: a short one, which memory may still
// hold, and a long one, which is read from the log.
import { Load } from "../load.mjs";
import { rounds, toRow } from "../rounds.mjs";
import { startDaemon } from "../targets.mjs";

/** @param {import("../plan.mjs").Context} context */
export async function replay(context) {
  const { plan, progress } = context;
  progress(`${plan.resumeEvents} and ${plan.historyEvents} events`);
  const daemon = await startDaemon(context, "durable");
  const row = async (/** @type {string} */ name, /** @type {number} */ events) => {
    const load = await Load.open(context, daemon.socketPath, 1);
    const { frames } = await load.flood(events);
    const all = await rounds([daemon], plan.replayRounds, async () => {
      const figures = await load.watch();
      if (figures.frames !== frames)
        throw new Error(`replay: ${frames} frames stored, ${figures.frames} read`);
      return figures.frames / (figures.elapsed_ns / 1e9);
    });
    await load.close();
    const measure = `replay of ${events / 1000}k events`;
    return toRow({ id: `replay.${name}`, measure, store: "durable", unit: "/s" }, all.durable);
  };
  const rows = [await row("short", plan.resumeEvents), await row("long", plan.historyEvents)];
  await daemon.stop();
  return rows;
}
