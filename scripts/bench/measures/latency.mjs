// From the agent's write to the reader's read, at the rate of a busy model: the agent stamps each event with
// CLOCK_MONOTONIC, the reader compares it with its own clock. And the round trip of a ping.
import { STORES, withLanes } from "../lanes.mjs";
import { rounds, toRow } from "../rounds.mjs";

/** @param {import("../plan.mjs").Context} context */
export async function latency(context) {
  const { plan, progress } = context;
  progress(`${plan.latencyRate} events/s`);
  const { paced, pings } = await withLanes(context, 1, async (lanes) => {
    await rounds(lanes, 1, ({ load }) => load.flood(plan.warmUpEvents));
    return {
      paced: await rounds(lanes, plan.latencyRounds, ({ load }) =>
        load.pace(plan.latencyRate, plan.latencySeconds),
      ),
      pings: await rounds(lanes, plan.latencyRounds, ({ load }) => load.ping(plan.pings)),
    };
  });
  const times = (
    /** @type {import("../load.mjs").Figures[]} */ all,
    /** @type {"p50_ns" | "p99_ns"} */ point,
  ) => all.map((figures) => figures[point] / 1e3);
  const rows = /** @type {const} */ (["p50", "p99"]).flatMap((point) =>
    STORES.map((store) =>
      toRow(
        {
          id: `latency.${point}.${store}`,
          measure: `forward an event, ${plan.latencyRate}/s, ${point}`,
          store,
          unit: "µs",
        },
        times(paced[store], `${point}_ns`),
        times(paced.relay, `${point}_ns`),
      ),
    ),
  );
  const ping = toRow(
    { id: "ping", measure: "ping, p50", store: "durable", unit: "µs" },
    times(pings.durable, "p50_ns"),
    times(pings.relay, "p50_ns"),
  );
  return [...rows, ping];
}
