// What CI checks, in about ten seconds. Other work on a machine only ever adds time, and CPU time through cold caches,
// so each figure is one of the best of many short rounds, on both sides; not the very best, which can be luck.
import { withLanes } from "../lanes.mjs";
import { cpuSeconds, IS_LINUX } from "../proc.mjs";
import { quantile, rounds } from "../rounds.mjs";
import { daemonProgram, relayProgram, timeProgram } from "../targets.mjs";
import { withoutAgents } from "./start.mjs";

const GOOD = 0.2;
const STARTS = 8;
const WARM_UP = { warmUpEvents: 15_000, turns: 100 };
const ROUNDS = 10;
const TURNS = 20;
const FLOOD_EVENTS = 5000;
/** With init and result the agent writes five lines. */
const SHORT_TURN_DELTAS = 3;

/**
 * The rows that a record keeps: of several attempts, the one in the middle.
 * @param {import("../plan.mjs").Context} context
 */
export async function guard(context) {
  if (!IS_LINUX || context.tools.kind !== "c") {
    context.progress("skipped: it needs Linux and a C compiler");
    return [];
  }
  const attempts = [];
  for (let n = 1; n <= context.plan.guardAttempts; n++) {
    context.progress(`attempt ${n} of ${context.plan.guardAttempts}`);
    attempts.push(await attempt(context));
  }
  return takeMiddles(attempts);
}

/**
 * @param {readonly import("../table.mjs").Row[][]} attempts
 * @returns {import("../table.mjs").Row[]}
 */
export function takeMiddles(attempts) {
  const ratioOf = (/** @type {import("../table.mjs").Row} */ row) =>
    row.value / (row.reference ?? Number.NaN);
  return (attempts[0] ?? []).map(({ id }) => {
    const rows = attempts.flatMap((each) => each.filter((row) => row.id === id));
    rows.sort((a, b) => ratioOf(a) - ratioOf(b));
    return /** @type {import("../table.mjs").Row} */ (rows[Math.floor(rows.length / 2)]);
  });
}

/**
 * @param {import("../plan.mjs").Context} context
 * @returns {Promise<import("../table.mjs").Row[]>}
 */
export async function attempt(context) {
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
  const sized = { ...context, plan: { ...context.plan, ...WARM_UP } };
  return withLanes(
    sized,
    1,
    async (lanes) => {
      await rounds(lanes, WARM_UP.turns, ({ load }) => load.flood(SHORT_TURN_DELTAS));
      const all = await rounds(lanes, ROUNDS, runRound);
      const each = (/** @type {keyof Awaited<ReturnType<typeof runRound>>} */ key) => ({
        relay: all.relay.map((figures) => figures[key]),
        durable: all.durable.map((figures) => figures[key]),
      });
      return [
        toBest("frame", "user to first frame", "µs", each("frame")),
        toBest("delta", "user to first delta", "µs", each("delta")),
        toBest("event", "CPU an event, flooding", "µs", each("event")),
      ];
    },
    ["durable"],
  );
}

/**
 * A little of everything, so that a slow second of the machine spoils no figure alone.
 * @param {import("../lanes.mjs").Lane} lane
 */
async function runRound({ pid, load }) {
  const turns = [];
  for (let n = 0; n < TURNS; n++) turns.push(await load.flood(SHORT_TURN_DELTAS));
  const from = cpuSeconds(pid);
  await load.flood(FLOOD_EVENTS);
  return {
    frame: Math.min(...turns.map(({ first_frame_ns }) => first_frame_ns)) / 1e3,
    delta: Math.min(...turns.map(({ first_delta_ns }) => first_delta_ns)) / 1e3,
    event: ((cpuSeconds(pid) - from) / FLOOD_EVENTS) * 1e6,
  };
}

/**
 * @param {string} name
 * @param {string} measure
 * @param {string} unit
 * @param {{ relay: number[], durable: number[] }} all
 */
function toBest(name, measure, unit, { relay, durable }) {
  const [value, reference] = [quantile(durable, GOOD), quantile(relay, GOOD)];
  return { id: `guard.${name}`, measure: `${measure}, best`, store: "durable", unit, value, reference };
}
