// From the agent's write to the reader's read, at the rate of a busy model: the agent stamps each event with
// CLOCK_MONOTONIC, the reader compares it with its own clock.
import { STORES, withLanes } from "../lanes.mjs";
import { median, rounds } from "../rounds.mjs";

/** @param {import("../plan.mjs").Context} context */
export async function latency(context) {
  const { plan, progress } = context;
  progress(`${plan.latencyRate} events/s`);
  const all = await withLanes(context, 1, async (lanes) => {
    await rounds(lanes, 1, ({ load }) => load.flood(plan.warmUpEvents));
    return rounds(lanes, plan.latencyRounds, ({ load }) => load.pace(plan.latencyRate, plan.latencySeconds));
  });
  return /** @type {const} */ (["p50", "p99"]).flatMap((point) => {
    const ms = (/** @type {keyof typeof all} */ name) =>
      all[name].map((figures) => figures[`${point}_ns`] / 1e6);
    return STORES.map((store) => ({
      id: `latency.${point}.${store}`,
      measure: `forward latency ${point}, ${plan.latencyRate}/s`,
      store,
      unit: "ms",
      value: median(ms(store)),
      reference: median(ms("relay")),
      rounds: ms(store),
      reference_rounds: ms("relay"),
    }));
  });
}
