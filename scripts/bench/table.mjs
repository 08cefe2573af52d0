// Formats rows of figures as one text table: the relay, ours, and the last recorded commit.
import { judge } from "./goals.mjs";

/**
 * @typedef {object} Row
 * @property {string} id what goals.mjs and the records call it
 * @property {string} measure
 * @property {string} store "memory" or "durable"; empty if there is none
 * @property {string} unit
 * @property {number} value
 * @property {number} [reference] the same figure of the relay, same run
 * @property {string} [reference_name] when it is not the relay
 * @property {number} [others] share of the machine that other work took meanwhile
 * @property {number[]} [rounds]
 * @property {number[]} [reference_rounds]
 */

const RIGHT = new Set([2, 3, 4, 5, 8]);

/**
 * @param {readonly Row[]} rows
 * @param {import("./records.mjs").Record} [last]
 */
export function formatTable(rows, last) {
  const head = ["measure", "store", "relay", "ours", "ratio", last?.commit ?? "last", "goal", "", "others"];
  const lines = [head, ...rows.map((row) => cells(row, last))];
  const widths = head.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? "").length)));
  const text = lines.map((line) =>
    line
      .map((cell, i) => (RIGHT.has(i) ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0)))
      .join("  ")
      .trimEnd(),
  );
  text.splice(1, 0, widths.map((width) => "-".repeat(width)).join("  "));
  return `${text.join("\n")}\n`;
}

/**
 * @param {Row} row
 * @param {import("./records.mjs").Record} [last]
 */
function cells(row, last) {
  const { id, measure, store, unit, value, reference } = row;
  const verdicts = judge(row);
  const reached = verdicts.every(({ isMet }) => isMet) ? "✓" : "✗";
  const before = last?.rows[id];
  return [
    row.reference_name ? `${measure} (relay: ${row.reference_name})` : measure,
    store,
    reference === undefined ? "" : format(reference, unit),
    format(value, unit),
    formatResult({ value, reference }, unit, ""),
    before === undefined ? "" : formatResult(before, unit, format(before.value, unit)),
    verdicts.map((goal) => formatGoal(goal, unit)).join(", "),
    verdicts.length === 0 ? "" : reached,
    row.others === undefined ? "" : `${Math.round(row.others * 100)} %`,
  ];
}

/**
 * The ratio, which can be compared between machines, or else `absolute`.
 * @param {{ value: number, reference?: number | undefined }} figures
 * @param {string} unit
 * @param {string} absolute
 */
function formatResult({ value, reference }, unit, absolute) {
  return reference === undefined ? absolute : formatRatio(value / reference, unit);
}

/**
 * @param {import("./goals.mjs").Goal} goal
 * @param {string} unit
 */
function formatGoal(goal, unit) {
  const limit = goal.min ?? goal.max ?? Number.NaN;
  const sign = goal.min === undefined ? "≤" : "≥";
  if (goal.key === "ratio") return `${sign} ${formatRatio(limit, unit)}`;
  return `${sign} ${goal.key === "difference" ? "+" : ""}${format(limit, unit)}`;
}

/**
 * For a rate, more is better, so it is shown as a percentage; for the rest, less is better, so it is a multiple.
 * @param {number} ratio
 * @param {string} unit
 */
function formatRatio(ratio, unit) {
  return unit === "/s" ? `${Math.round(ratio * 100)} %` : `${ratio.toFixed(2)} x`;
}

/**
 * @param {number} value
 * @param {string} unit
 */
export function format(value, unit) {
  if (unit === "/s") return `${Math.round(value / 1000)} k/s`;
  return `${value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)} ${unit}`;
}
