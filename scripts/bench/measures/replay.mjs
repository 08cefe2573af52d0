// Reads a session's whole history on a new connection while the session is live. The ring holds the last 1024 frames,
// so nearly all of it comes from the log.
import { Load } from "../load.mjs";
import { median, rounds } from "../rounds.mjs";
import { startDaemon } from "../targets.mjs";

/** @param {import("../plan.mjs").Context} context */
export async function replay(context) {
  const { plan, progress } = context;
  progress(`${plan.historyEvents} events`);
  const daemon = await startDaemon(context, "durable");
  const load = await Load.open(context, daemon.socketPath, 1);
  const { frames } = await load.flood(plan.historyEvents);
  const all = await rounds([daemon], plan.replayRounds, async () => {
    const figures = await load.watch();
    if (figures.frames !== frames) throw new Error(`replay: ${frames} frames stored, ${figures.frames} read`);
    return figures.frames / (figures.elapsed_ns / 1e9);
  });
  await load.close();
  await daemon.stop();
  return [
    {
      id: "replay",
      measure: "replay from the log",
      store: "durable",
      unit: "/s",
      value: median(all.durable),
      rounds: all.durable,
    },
  ];
}
