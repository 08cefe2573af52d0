// What CI checks, in about ten seconds. Other work on a machine only ever adds time, and CPU time through cold caches,
// so each figure is the best of many short rounds, on both sides.
import { withLanes } from "../lanes.mjs";
import { cpuSeconds, IS_LINUX } from "../proc.mjs";
import { rounds } from "../rounds.mjs";
import { daemonProgram, relayProgram, timeProgram } from "../targets.mjs";
import { withoutAgents } from "./start.mjs";

const STARTS = 6;
const WARM_UP_TURNS = 100;
const TURN_ROUNDS = 200;
const ROUNDS = 8;
const PINGS = 100;
const FLOOD_EVENTS = 10_000;
/** With init and result the agent writes five lines. */
const SHORT_TURN_DELTAS = 3;
const SIZES = { warmUpEvents: 20_000 };

/**
 * @param {import("../plan.mjs").Context} context
 * @returns {Promise<import("../table.mjs").Row[]>}
 */
export async function guard(context) {
  if (!IS_LINUX || context.tools.kind !== "c") {
    context.progress("skipped: it needs Linux and a C compiler");
    return [];
  }
  context.progress("start, turn, ping, event");
  return [await measureStart(context), ...(await measureWarm(context))];
}

/** @param {import("../plan.mjs").Context} context */
async function measureStart(context) {
  const directory = context.bench.makeDirectory();
  const env = withoutAgents(context.bench);
  const candidates = /** @type {const} */ ([
    { name: "relay", program: () => relayProgram(context) },
    { name: "durable", program: () => daemonProgram(context, "durable", { directory, env }) },
  ]);
  const all = await rounds(
    candidates,
    STARTS,
    async ({ program }) => (await timeProgram(context, program())).cpuMs,
  );
  return toBest("start", "CPU of start and stop", "ms", all);
}

/** @param {import("../plan.mjs").Context} context */
function measureWarm(context) {
  const sized = { ...context, plan: { ...context.plan, ...SIZES } };
  return withLanes(
    sized,
    1,
    async (lanes) => {
      await rounds(lanes, WARM_UP_TURNS, ({ load }) => load.flood(SHORT_TURN_DELTAS));
      const turns = await rounds(lanes, TURN_ROUNDS, ({ load }) => load.flood(SHORT_TURN_DELTAS));
      const pings = await rounds(lanes, ROUNDS, ({ load }) => load.ping(PINGS));
      const floods = await rounds(lanes, ROUNDS, async ({ pid, load }) => {
        const from = cpuSeconds(pid);
        await load.flood(FLOOD_EVENTS);
        return ((cpuSeconds(pid) - from) / FLOOD_EVENTS) * 1e6;
      });
      const us = (
        /** @type {Record<string, import("../load.mjs").Figures[]>} */ all,
        /** @type {"first_frame_ns" | "first_delta_ns" | "p10_ns"} */ key,
      ) => mapEach(all, (figures) => figures[key] / 1e3);
      return [
        toBest("frame", "user to first frame", "µs", us(turns, "first_frame_ns")),
        toBest("delta", "user to first delta", "µs", us(turns, "first_delta_ns")),
        toBest("ping", "ping", "µs", us(pings, "p10_ns")),
        toBest("event", "CPU an event, flooding", "µs", floods),
      ];
    },
    ["durable"],
  );
}

/**
 * @template T
 * @param {Record<string, T[]>} all
 * @param {(each: T) => number} read
 */
function mapEach(all, read) {
  return Object.fromEntries(Object.entries(all).map(([name, values]) => [name, values.map(read)]));
}

/**
 * @param {string} name
 * @param {string} measure
 * @param {string} unit
 * @param {Record<string, number[]>} all
 */
function toBest(name, measure, unit, all) {
  const best = (/** @type {string} */ lane) => Math.min(...(all[lane] ?? []));
  return {
    id: `guard.${name}`,
    measure: `${measure}, best`,
    store: "durable",
    unit,
    value: best("durable"),
    reference: best("relay"),
  };
}
