// From the client's agent.user to the first frame it reads and to the agent's first text, and the CPU time of a short
// turn. The daemon's first frame is its own task_started notice; the relay's is the agent's.
import { setTimeout as sleep } from "node:timers/promises";
import { STORES, withLanes } from "../lanes.mjs";
import { Load } from "../load.mjs";
import { cpuSeconds, IS_LINUX } from "../proc.mjs";
import { rounds, toRow } from "../rounds.mjs";
import { startDaemon, startRelay } from "../targets.mjs";

const PAUSE_MS = 15;
const POINTS = /** @type {const} */ ([
  ["frame", "user to first frame", "first_frame_ns"],
  ["delta", "user to first delta", "first_delta_ns"],
]);
/** With init and result the agent writes five lines. */
const SHORT_TURN_DELTAS = 3;
const TURNS_A_ROUND = 25;

/** @param {import("../plan.mjs").Context} context */
export async function turn(context) {
  context.progress(`${context.plan.turns} turns, ${context.plan.coldTurns} cold`);
  return [...(await measureWarm(context)), ...(await measureCold(context))];
}

/** @param {import("../plan.mjs").Context} context */
async function measureWarm(context) {
  const { plan } = context;
  const { said, cpu } = await withLanes(context, 1, async (lanes) => {
    await rounds(lanes, TURNS_A_ROUND, ({ load }) => load.flood(SHORT_TURN_DELTAS));
    const said = await rounds(lanes, plan.turns, async ({ load }) => {
      await sleep(PAUSE_MS); // users do not type in the same millisecond
      return load.say();
    });
    return { said, cpu: IS_LINUX ? await rounds(lanes, plan.cpuRounds, cpuOfTurn) : undefined };
  });
  const times = POINTS.flatMap(([name, measure, key]) => {
    const us = (/** @type {keyof typeof said} */ lane) => said[lane].map((figures) => figures[key] / 1e3);
    return STORES.map((store) =>
      toRow({ id: `turn.${name}.${store}`, measure, store, unit: "µs" }, us(store), us("relay")),
    );
  });
  if (cpu === undefined) return times;
  const costs = STORES.map((store) =>
    toRow(
      { id: `turn.cpu.${store}`, measure: "CPU of a short turn", store, unit: "ms" },
      cpu[store],
      cpu.relay,
    ),
  );
  return [...times, ...costs];
}

/**
 * @param {{ pid: number, load: Load }} lane
 * @returns {Promise<number>} ms a turn
 */
export async function cpuOfTurn({ pid, load }) {
  const from = cpuSeconds(pid);
  for (let n = 0; n < TURNS_A_ROUND; n++) await load.flood(SHORT_TURN_DELTAS);
  return ((cpuSeconds(pid) - from) / TURNS_A_ROUND) * 1e3;
}

/**
 * The first message to a session that was just opened on a daemon that was just started.
 * @param {import("../plan.mjs").Context} context
 */
async function measureCold(context) {
  const candidates = /** @type {const} */ ([
    { name: "relay", start: () => startRelay(context) },
    { name: "durable", start: () => startDaemon(context, "durable") },
  ]);
  const all = await rounds(candidates, context.plan.coldTurns, async ({ start }) => {
    const target = await start();
    const load = await Load.open(context, target.socketPath, 1);
    const figures = await load.say();
    await load.close();
    await target.stop();
    return figures;
  });
  return POINTS.map(([name, measure, key]) => {
    const us = (/** @type {keyof typeof all} */ lane) => all[lane].map((figures) => figures[key] / 1e3);
    const head = { id: `turn.${name}.cold`, measure: `${measure}, cold`, store: "durable", unit: "µs" };
    return toRow(head, us("durable"), us("relay"));
  });
}
