// Events per second through relay and daemon, all sessions flooding at once, until the last result is read; and their
// CPU time, which other work on the machine disturbs less than the rate.
import { STORES, withLanes } from "../lanes.mjs";
import { cpuSeconds, IS_LINUX } from "../proc.mjs";
import { rounds, toRow } from "../rounds.mjs";

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
  const label = `${sessions} session${sessions > 1 ? "s" : ""}`;
  progress(label);
  const all = await withLanes(context, sessions, (lanes) =>
    rounds(lanes, plan.floodRounds, (lane) => floodOnce(lane, plan.floodEvents)),
  );
  const row = (
    /** @type {"memory" | "durable"} */ store,
    /** @type {"rate" | "cpu"} */ key,
    /** @type {{ measure: string, unit: string }} */ head,
  ) => {
    const values = (/** @type {keyof typeof all} */ name) => all[name].map((figures) => figures[key]);
    const id = `${key === "rate" ? "throughput" : "flood-cpu"}.${sessions}.${store}`;
    return toRow({ id, ...head, store }, values(store), values("relay"));
  };
  return [
    ...STORES.map((store) => row(store, "rate", { measure: `events/s, ${label}`, unit: "/s" })),
    ...(IS_LINUX ? STORES : []).map((store) =>
      row(store, "cpu", { measure: `CPU an event, ${label} flooding`, unit: "µs" }),
    ),
  ];
}

/**
 * @param {{ pid: number, load: import("../load.mjs").Load }} lane
 * @param {number} events
 */
export async function floodOnce({ pid, load }, events) {
  const cpuFrom = IS_LINUX ? cpuSeconds(pid) : 0;
  const { deltas, elapsed_ns } = await load.flood(events);
  const cpu = IS_LINUX ? ((cpuSeconds(pid) - cpuFrom) / deltas) * 1e6 : Number.NaN;
  return { rate: deltas / (elapsed_ns / 1e9), cpu };
}
