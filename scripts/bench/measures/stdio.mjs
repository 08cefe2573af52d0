// What it costs that agents outlive the daemon: the durable daemon with its agents on files against the same daemon with
// pipes, round by round.
import { setTimeout as sleep } from "node:timers/promises";
import { Load } from "../load.mjs";
import { IS_LINUX, memoryMb } from "../proc.mjs";
import { rounds, toRow } from "../rounds.mjs";
import { startDaemon } from "../targets.mjs";
import { floodOnce } from "./throughput.mjs";

const SETTLE_MS = 1000;
const KINDS = /** @type {const} */ (["pipes", "files"]);

/** @typedef {{ name: "pipes" | "files", pid: number, load: Load }} Lane */

/** @param {import("../plan.mjs").Context} context */
export async function stdio(context) {
  const rows = [];
  for (const sessions of context.plan.stdioSessions) rows.push(...(await compare(context, sessions)));
  return rows;
}

/**
 * @param {import("../plan.mjs").Context} context
 * @param {number} sessions
 */
async function compare(context, sessions) {
  const { plan, progress } = context;
  const label = `${sessions} session${sessions > 1 ? "s" : ""}`;
  progress(label);
  return withKinds(context, sessions, async (lanes) => {
    const floods = await rounds(lanes, plan.floodRounds, (lane) => floodOnce(lane, plan.floodEvents));
    const row = rowMaker(label, sessions);
    const found = [row("events/s", "/s", floods, ({ rate }) => rate)];
    if (sessions === 1) {
      const paced = await rounds(lanes, plan.latencyRounds, ({ load }) =>
        load.pace(plan.latencyRate, plan.latencySeconds),
      );
      found.push(row("forward latency p50", "ms", paced, ({ p50_ns }) => p50_ns / 1e6));
    }
    if (!IS_LINUX) return found;
    // The last one to be flooded gives memory back, too.
    await sleep(SETTLE_MS);
    const memory = await rounds(lanes, 1, async ({ pid }) => memoryMb(pid, "VmRSS"));
    return [
      ...found,
      row("CPU an event", "µs", floods, ({ cpu }) => cpu),
      row("RSS", "MB", memory, (value) => value),
    ];
  });
}

/**
 * @param {string} label
 * @param {number} sessions
 */
function rowMaker(label, sessions) {
  /**
   * @template F
   * @param {string} what
   * @param {string} unit
   * @param {Record<"pipes" | "files", F[]>} figures
   * @param {(figure: F) => number} read
   */
  return (what, unit, figures, read) =>
    toRow(
      {
        id: `stdio.${what}.${sessions}`,
        measure: `${what}, agents on files, ${label}`,
        store: "durable",
        unit,
        reference_name: "pipes",
      },
      figures.files.map(read),
      figures.pipes.map(read),
    );
}

/**
 * @template R
 * @param {import("../plan.mjs").Context} context
 * @param {number} sessions
 * @param {(lanes: Lane[]) => Promise<R>} run
 * @returns {Promise<R>}
 */
async function withKinds(context, sessions, run) {
  /** @type {Lane[]} */
  const lanes = [];
  const targets = [];
  for (const name of KINDS) {
    const target = await startDaemon(context, "durable", { env: { BLEMEESD_AGENT_STDIO: name } });
    targets.push(target);
    lanes.push({ name, pid: target.pid, load: await Load.open(context, target.socketPath, sessions) });
  }
  await rounds(lanes, 1, ({ load }) => load.flood(context.plan.warmUpEvents));
  const result = await run(lanes);
  for (const { load } of lanes) await load.close();
  for (const target of targets) await target.stop();
  return result;
}
