// Draws the ratios of the last recorded commits to the relay: a small panel per figure, with its goal. Plain SVG that
// follows the reader's light or dark scheme.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { judge } from "./goals.mjs";

const FILE = join(import.meta.dirname, "../../docs/images/bench.svg");
const SHOWN = 20;
const COLUMNS = 3;
const PANEL = { width: 300, height: 150, gap: 16 };
const PLOT = { left: 12, right: 12, top: 52, bottom: 26 };
const HEAD = 64;
const MARGIN = 20;

/** The unit decides whether more is better, as in the table. */
const PANELS = [
  { id: "start.again", title: "Start to hello_ack" },
  { id: "start.agents", title: "… with claude and codex" },
  { id: "cli.sm --version", title: "sm --version, to bare Node" },
  { id: "turn.frame.durable", title: "User message to first frame" },
  { id: "turn.delta.durable", title: "User message to first delta" },
  { id: "turn.cpu.durable", title: "CPU of a short turn" },
  { id: "latency.p50.durable", title: "Forward an event, p50" },
  { id: "latency.p99.durable", title: "Forward an event, p99" },
  { id: "ping", title: "Ping, p50" },
  { id: "throughput.8.durable", title: "Events/s, durable", isRate: true },
  { id: "throughput.8.memory", title: "Events/s, in memory", isRate: true },
  { id: "rss.after", title: "Memory after 200k events" },
];

const STYLE = `
  :root { --back: #ffffff; --panel: #f6f8fa; --text: #1f2328; --soft: #59636e; --line: #0969da; --met: #1a7f37; --missed: #bc4c00; --grid: #d1d9e0 }
  @media (prefers-color-scheme: dark) {
    :root { --back: #0d1117; --panel: #151b23; --text: #f0f6fc; --soft: #9198a1; --line: #4493f8; --met: #3fb950; --missed: #db6d28; --grid: #3d444d }
  }
  text { font: 12px system-ui, sans-serif; fill: var(--soft) }
  .title { font-weight: 600; fill: var(--text) }
  .head { font-size: 17px; font-weight: 600; fill: var(--text) }
  .last { font-size: 17px; font-weight: 600; text-anchor: end }
  .end { text-anchor: end }
  .series { fill: none; stroke: var(--line); stroke-width: 2; stroke-linejoin: round }
  .point { fill: var(--line) }
  .goal { stroke: var(--soft); stroke-dasharray: 4 4 }
  .axis { stroke: var(--grid) }
  .met { fill: var(--met) }
  .missed { fill: var(--missed) }`;

/**
 * @param {readonly import("./records.mjs").Record[]} records oldest first
 * @returns the file
 */
export function writeChart(records, file = FILE) {
  writeFileSync(file, drawChart(records));
  return file;
}

/** @param {readonly import("./records.mjs").Record[]} records oldest first */
export function drawChart(records) {
  const shown = records.slice(-SHOWN);
  const lines = Math.ceil(PANELS.length / COLUMNS);
  const width = 2 * MARGIN + COLUMNS * PANEL.width + (COLUMNS - 1) * PANEL.gap;
  const height = HEAD + lines * (PANEL.height + PANEL.gap) + MARGIN - PANEL.gap;
  const panels = PANELS.map((panel, index) => {
    const x = MARGIN + (index % COLUMNS) * (PANEL.width + PANEL.gap);
    const y = HEAD + Math.floor(index / COLUMNS) * (PANEL.height + PANEL.gap);
    return `<g transform="translate(${x} ${y})">${drawPanel(panel, shown)}</g>`;
  });
  const which = shown.length === 1 ? "1 recorded commit" : `the last ${shown.length} recorded commits`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="Speed of recorded commits relative to a minimal relay">
<style>${STYLE}
</style>
<rect width="${width}" height="${height}" fill="var(--back)"/>
<text class="head" x="${MARGIN}" y="28">blemeesd relative to a minimal relay, same run</text>
<text x="${MARGIN}" y="48">${which}; less is better for multiples (×), more for percentages; dashed: the goal</text>
${panels.join("\n")}
</svg>
`;
}

/**
 * @param {{ id: string, title: string, isRate?: boolean }} panel
 * @param {readonly import("./records.mjs").Record[]} records
 */
function drawPanel({ id, title, isRate = false }, records) {
  const ratios = records.map(({ rows }) => ratioOf(rows[id]));
  const goal = judge({ id, value: 0 }).find(({ key }) => key === "ratio");
  const limit = goal?.max ?? goal?.min;
  const known = ratios.filter((ratio) => ratio !== undefined);
  const top = Math.max(...known, limit ?? 0, 0.1) * 1.1;
  const bottom = PANEL.height - PLOT.bottom;
  const y = (/** @type {number} */ ratio) => round(bottom - (ratio / top) * (bottom - PLOT.top));
  const step = (PANEL.width - PLOT.left - PLOT.right) / Math.max(1, records.length - 1);
  const x = (/** @type {number} */ index) =>
    round(records.length === 1 ? PANEL.width / 2 : PLOT.left + index * step);
  const points = ratios.flatMap((ratio, index) =>
    ratio === undefined ? [] : [{ x: x(index), y: y(ratio), ratio, commit: records[index]?.commit ?? "" }],
  );
  const last = known.at(-1);
  const isMet = last !== undefined && last <= (goal?.max ?? Infinity) && last >= (goal?.min ?? 0);
  return [
    `<rect width="${PANEL.width}" height="${PANEL.height}" rx="6" fill="var(--panel)"/>`,
    `<text class="title" x="${PLOT.left}" y="22">${escapeXml(title)}</text>`,
    limit === undefined
      ? ""
      : `<text x="${PLOT.left}" y="39">goal ${goal?.max === undefined ? "≥" : "≤"} ${show(limit, isRate)}</text>`,
    last === undefined
      ? `<text x="${PLOT.left}" y="${bottom - 20}">no record</text>`
      : `<text class="last ${limit === undefined ? "title" : isMet ? "met" : "missed"}" x="${PANEL.width - PLOT.right}" y="24">${show(last, isRate)}</text>`,
    `<path class="axis" d="M${PLOT.left} ${bottom}H${PANEL.width - PLOT.right}"/>`,
    limit === undefined
      ? ""
      : `<path class="goal" d="M${PLOT.left} ${y(limit)}H${PANEL.width - PLOT.right}"/>`,
    `<path class="series" d="${points.map((point, n) => `${n === 0 ? "M" : "L"}${point.x} ${point.y}`).join("")}"/>`,
    ...points.map(
      (point) =>
        `<circle class="point" cx="${point.x}" cy="${point.y}" r="3"><title>${escapeXml(point.commit)}: ${show(point.ratio, isRate)}</title></circle>`,
    ),
    ...drawCommits(records),
  ].join("");
}

/** The first and the last one below the axis. @param {readonly import("./records.mjs").Record[]} records */
function drawCommits(records) {
  const [first, last] = [records[0]?.commit ?? "", records.at(-1)?.commit ?? ""];
  const y = PANEL.height - 9;
  if (records.length < 2)
    return [`<text x="${PANEL.width / 2}" y="${y}" text-anchor="middle">${escapeXml(last)}</text>`];
  return [
    `<text x="${PLOT.left}" y="${y}">${escapeXml(first)}</text>`,
    `<text class="end" x="${PANEL.width - PLOT.right}" y="${y}">${escapeXml(last)}</text>`,
  ];
}

/** @param {{ value: number, reference?: number } | undefined} figure */
function ratioOf(figure) {
  return figure?.reference === undefined ? undefined : figure.value / figure.reference;
}

/**
 * @param {number} ratio
 * @param {boolean} isRate
 */
function show(ratio, isRate) {
  return isRate ? `${Math.round(ratio * 100)} %` : `${ratio.toFixed(ratio < 10 ? 2 : 1)} ×`;
}

/** @param {number} value */
function round(value) {
  return Math.round(value * 10) / 10;
}

/** @param {string} text */
function escapeXml(text) {
  return text.replace(/[&<>]/g, (character) => `&#${character.charCodeAt(0)};`);
}
