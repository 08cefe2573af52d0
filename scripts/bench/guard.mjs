// `npm run bench -- --guard`: fails if a ratio to the relay is much worse than the recorded one in each of three
// attempts. Never on an absolute time, and never on a machine that is too busy, or another machine than the record's. Two
// machines with the same processor can differ by half, so before it fails, the recorded commit is measured here too.
import { measureCommit } from "./earlier-commit.mjs";
import { attempt } from "./measures/guard.mjs";
import { meterOthers } from "./proc.mjs";
import { format } from "./table.mjs";

export const MARGIN = 1.25;
const ATTEMPTS = 3;
/** Above this share of other work a bad ratio proves nothing. */
const BUSY = 0.5;
/** After this, two attempts are enough: the step must stay below a minute. */
const PATIENCE_MS = 25_000;
const BUDGET_S = 60;

/**
 * @typedef {{ rows: import("./table.mjs").Row[], others: number }} Attempt
 * @typedef {{ id: string, ratio: number, recorded: number, isWorse: boolean }} Finding
 */

/**
 * @param {import("./plan.mjs").Context} context
 * @param {{ node: string, cores: number, tools: "c" | "node" }} machine
 * @param {import("./records.mjs").Record | undefined} last
 * @returns {Promise<number>} the exit code
 */
export async function runGuard(context, machine, last) {
  const reason = reasonToSkip(machine, last);
  if (reason !== undefined || last === undefined) {
    process.stdout.write(`guard: not checked: ${reason}\n`);
    return 0;
  }
  const startedAt = performance.now();
  /** @type {Attempt[]} */
  const attempts = [];
  for (;;) {
    const others = meterOthers();
    const rows = await attempt(context);
    attempts.push({ rows, others: others() ?? 0 });
    process.stdout.write(formatAttempt(attempts, last));
    const elapsedMs = performance.now() - startedAt;
    const verdict = decide(attempts, last, elapsedMs > PATIENCE_MS);
    if (verdict === "again") continue;
    if (verdict === "worse") return judgeHere(context, attempts, last);
    const time = `${(elapsedMs / 1000).toFixed(0)} s (budget ${BUDGET_S} s)`;
    process.stdout.write(`guard: ${describe(verdict, attempts, last)} took ${time}\n`);
    return 0;
  }
}

/**
 * Compares with the recorded commit as it is on this machine, now.
 * @param {import("./plan.mjs").Context} context
 * @param {readonly Attempt[]} attempts
 * @param {import("./records.mjs").Record} last
 * @returns {Promise<number>} the exit code
 */
async function judgeHere(context, attempts, last) {
  process.stdout.write(`guard: worse than recorded; measuring ${last.commit} on this machine …\n`);
  const earlier = await measureCommit(context, last.commit, attempts.length);
  if (typeof earlier === "string") {
    process.stdout.write(`guard: ${last.commit} cannot be measured here: ${earlier}\n`);
    process.stdout.write(`guard: ${describe("worse", attempts, last)} took longer\n`);
    return 1;
  }
  const here = { ...last, rows: bestOf(earlier) };
  const isWorse = findWorse(attempts, here).length > 0;
  process.stdout.write(`${last.commit} on this machine, then ours:\n${formatAttempt(attempts, here)}`);
  process.stdout.write(
    `guard: ${describe(isWorse ? "worse" : "ok", attempts, here)} both were measured here\n`,
  );
  return isWorse ? 1 : 0;
}

/**
 * Each row with its best ratio.
 * @param {readonly (readonly import("./table.mjs").Row[])[]} measured
 * @returns {import("./records.mjs").Record["rows"]}
 */
export function bestOf(measured) {
  /** @type {import("./records.mjs").Record["rows"]} */
  const best = {};
  for (const row of measured.flat()) {
    const before = best[row.id];
    if (before === undefined || ratioOf(row) < ratioOf(before)) best[row.id] = row;
  }
  return best;
}

/**
 * @param {"ok" | "busy" | "worse"} verdict
 * @param {readonly Attempt[]} attempts
 * @param {import("./records.mjs").Record} last
 */
function describe(verdict, attempts, last) {
  if (verdict === "busy") return "not checked: the machine is too busy to tell;";
  const limit = `${percent(MARGIN - 1)} worse than that of ${last.commit}`;
  if (verdict === "ok") return `no ratio to the relay is ${limit};`;
  const worse = findWorse(attempts, last).map(({ id }) => id);
  return (
    `the ratio to the relay is ${limit} in ${attempts.length} attempts: ${worse.join(", ")}. ` +
    "`npm run bench -- --profile flood` shows where the time goes. If the price is right, " +
    "`npm run bench -- --record`;"
  );
}

/**
 * @param {{ node: string, cores: number, tools: string }} machine
 * @param {import("./records.mjs").Record | undefined} last
 */
export function reasonToSkip(machine, last) {
  if (last === undefined) return "there is no record; `npm run bench -- --record` makes one";
  if (machine.tools !== "c" || last.tools !== "c") return "there is no C compiler";
  if (machine.cores !== last.cores) return `${machine.cores} cores, the record has ${last.cores}`;
  const major = (/** @type {string} */ node) => node.split(".")[0];
  if (major(machine.node) !== major(last.node)) return `Node ${machine.node}, the record has ${last.node}`;
  // Idle processors are slower to wake up: ratios of a busy machine are other ratios.
  if (last.others > BUSY)
    return `other work took ${percent(last.others)} of the machine while ${last.commit} was recorded`;
  return undefined;
}

/**
 * A row counts with its best attempt. Only quiet attempts can show that the program became slower.
 * @param {readonly Attempt[]} attempts
 * @param {import("./records.mjs").Record} last
 * @param {boolean} isLate
 * @returns {"ok" | "again" | "busy" | "worse"}
 */
export function decide(attempts, last, isLate) {
  if (findWorse(attempts, last).length === 0) return "ok";
  if (attempts.some(({ others }) => others > BUSY)) return "busy";
  return attempts.length >= (isLate ? ATTEMPTS - 1 : ATTEMPTS) ? "worse" : "again";
}

/**
 * @param {readonly Attempt[]} attempts
 * @param {import("./records.mjs").Record} last
 */
export function findWorse(attempts, last) {
  return compare(attempts, last).filter(({ isWorse }) => isWorse);
}

/**
 * @param {readonly Attempt[]} attempts
 * @param {import("./records.mjs").Record} last
 * @returns {Finding[]}
 */
function compare(attempts, last) {
  return (attempts[0]?.rows ?? []).flatMap(({ id }) => {
    const before = last.rows[id];
    if (before?.reference === undefined) return []; // the row is newer than the record
    const ratios = attempts.flatMap(({ rows }) => rows.filter((row) => row.id === id).map(ratioOf));
    const [ratio, recorded] = [Math.min(...ratios), ratioOf(before)];
    // Written so that NaN, a figure that was never measured, is worse.
    return [{ id, ratio, recorded, isWorse: !(ratio <= recorded * MARGIN) }];
  });
}

/** @param {{ value: number, reference?: number }} figure */
function ratioOf({ value, reference }) {
  return value / (reference ?? Number.NaN);
}

/**
 * @param {readonly Attempt[]} attempts
 * @param {import("./records.mjs").Record} last
 */
function formatAttempt(attempts, last) {
  const { rows, others } = /** @type {Attempt} */ (attempts.at(-1));
  const findings = new Map(compare(attempts, last).map((finding) => [finding.id, finding]));
  const lines = rows.map((row) => {
    const found = findings.get(row.id);
    const figures = `${format(row.reference ?? Number.NaN, row.unit)} relay, ${format(row.value, row.unit)} ours`;
    const before = found === undefined ? "not recorded" : `recorded ${found.recorded.toFixed(2)} x`;
    const verdict = found?.isWorse ? "  worse" : "";
    return `  ${row.measure.padEnd(30)} ${figures.padEnd(34)} ${ratioOf(row).toFixed(2)} x, ${before}${verdict}\n`;
  });
  return `attempt ${attempts.length}, other work ${percent(others)}:\n${lines.join("")}`;
}

/** @param {number} share */
function percent(share) {
  return `${Math.round(share * 100)} %`;
}
