// Formats rows of figures as one text table.
import { judge } from "./goals.mjs";

/**
 * @typedef {object} Row
 * @property {string} id what goals.mjs calls it
 * @property {string} measure
 * @property {string} store "memory" or "durable"
 * @property {string} unit
 * @property {number} value
 * @property {number} [reference] the same figure of the relay, same run
 * @property {string} [reference_name] when it is not the relay
 * @property {number} [others] share of the machine that other work took meanwhile
 * @property {number[]} [rounds]
 * @property {number[]} [reference_rounds]
 */

const HEAD = ["measure", "store", "blemeesd", "relay", "ratio", "target", "", "others"];
const RIGHT = new Set([2, 3, 4, 7]);

/** @param {readonly Row[]} rows */
export function formatTable(rows) {
  const lines = [HEAD, ...rows.map(cells)];
  const widths = HEAD.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? "").length)));
  const text = lines.map((line) =>
    line
      .map((cell, i) => (RIGHT.has(i) ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0)))
      .join("  ")
      .trimEnd(),
  );
  text.splice(1, 0, widths.map((width) => "-".repeat(width)).join("  "));
  return `${text.join("\n")}\n`;
}

/** @param {Row} row */
function cells(row) {
  const { measure, store, unit, value, reference } = row;
  const verdicts = judge(row);
  const reached = verdicts.every(({ isMet }) => isMet) ? "✓" : "✗";
  const relay = reference === undefined ? "" : format(reference, unit);
  return [
    row.reference_name ? `${measure} (relay: ${row.reference_name})` : measure,
    store,
    format(value, unit),
    relay,
    reference === undefined ? "" : formatRatio(value / reference, unit),
    verdicts.map((goal) => formatGoal(goal, unit)).join(", "),
    verdicts.length === 0 ? "" : reached,
    row.others === undefined ? "" : `${Math.round(row.others * 100)} %`,
  ];
}

/** @param {{ key: "value" | "ratio", min?: number, max?: number }} goal
 * @param {string} unit
 */
function formatGoal(goal, unit) {
  const limit = goal.min ?? goal.max ?? Number.NaN;
  const sign = goal.min === undefined ? "≤" : "≥";
  return `${sign} ${goal.key === "ratio" ? formatRatio(limit, unit) : format(limit, unit)}`;
}

/**
 * For a rate, more is better, so it is shown as a percentage; for the rest, less is better, so it is a multiple.
 * @param {number} ratio
 * @param {string} unit
 */
function formatRatio(ratio, unit) {
  return unit === "/s" ? `${Math.round(ratio * 100)} %` : `${ratio.toFixed(1)} x`;
}

/**
 * @param {number} value
 * @param {string} unit
 */
function format(value, unit) {
  if (unit === "/s") return `${Math.round(value / 1000)} k/s`;
  return `${value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)} ${unit}`;
}
