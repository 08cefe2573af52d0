// Events a second through relay and daemon, all sessions flooding at once, until the last result is read.
import { STORES, withLanes } from "../lanes.mjs";
import { median, rounds } from "../rounds.mjs";

/** @param {import("../plan.mjs").Context} context */
export async function throughput(context) {
  const rows = [];
  for (const sessions of context.plan.floodSessions) rows.push(...(await floodWith(context, sessions)));
  return rows;
}

/**
 * @param {import("../plan.mjs").Context} context
 * @param {number} sessions
 */
async function floodWith(context, sessions) {
  const { plan, progress } = context;
  const measure = `events/s, ${sessions} session${sessions > 1 ? "s" : ""}`;
  progress(measure);
  const all = await withLanes(context, sessions, (lanes) =>
    rounds(lanes, plan.floodRounds, async ({ load }) => {
      const { deltas, elapsed_ns } = await load.flood(plan.floodEvents);
      return deltas / (elapsed_ns / 1e9);
    }),
  );
  return STORES.map((store) => ({
    id: `throughput.${sessions}.${store}`,
    measure,
    store,
    unit: "/s",
    value: median(all[store]),
    reference: median(all.relay),
    rounds: all[store],
    reference_rounds: all.relay,
  }));
}
