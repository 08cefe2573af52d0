// From the client's agent.user to the first frame it reads, and to the agent's first text. The daemon's first frame is
// its own task_started notice, so only the second figure compares with the relay.
import { setTimeout as sleep } from "node:timers/promises";
import { STORES, withLanes } from "../lanes.mjs";
import { median, rounds } from "../rounds.mjs";

const PAUSE_MS = 15;
const POINTS = /** @type {const} */ ([
  ["user to first frame", "first_frame_ns"],
  ["user to first delta", "first_delta_ns"],
]);

/** @param {import("../plan.mjs").Context} context */
export async function firstFrame(context) {
  const { plan, progress } = context;
  progress(`${plan.firstFrameTurns} turns`);
  const all = await withLanes(context, 1, async (lanes) => {
    await rounds(lanes, 5, ({ load }) => load.say());
    return rounds(lanes, plan.firstFrameTurns, async ({ load }) => {
      await sleep(PAUSE_MS); // users do not type in the same millisecond
      return load.say();
    });
  });
  return POINTS.flatMap(([measure, key]) => {
    const ms = (/** @type {keyof typeof all} */ name) =>
      median(all[name].map((figures) => figures[key] / 1e6));
    return STORES.map((store) => ({
      id: `first-frame.${key}.${store}`,
      measure,
      store,
      unit: "ms",
      value: ms(store),
      reference: ms("relay"),
    }));
  });
}
