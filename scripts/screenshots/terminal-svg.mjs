// Turns terminal screens, as tmux captures them with colors, into one animated SVG that a README can show.
const CELL = { width: 8.4, height: 17 };
const PADDING = 12;
const COLORS = { background: "#1b1e24", text: "#d7dae0", dim: "#8a919e" };
const BASE16 = [
  ["#3b4048", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#d7dae0"],
  ["#6b7280", "#ff7b86", "#b5e08c", "#ffd68a", "#82c7ff", "#dd9bee", "#7fd8e4", "#ffffff"],
].flat();
const LEVELS = [0, 95, 135, 175, 215, 255];

/**
 * @typedef {object} Screen
 * @property {string} text with SGR sequences, one line per row
 * @property {number} seconds how long it is shown
 * @typedef {{ bold?: boolean, dim?: boolean, inverse?: boolean, color?: string, background?: string }} Style
 */

/**
 * @param {readonly Screen[]} screens
 * @param {{ columns: number, rows: number }} size
 */
export function toAnimatedSvg(screens, { columns, rows }) {
  const width = Math.ceil(columns * CELL.width + 2 * PADDING);
  const height = rows * CELL.height + 2 * PADDING;
  const total = screens.reduce((sum, { seconds }) => sum + seconds, 0);
  let from = 0;
  const groups = screens.map(({ text, seconds }, index) => {
    const rule = keyframes(index, from / total, (from + seconds) / total, total);
    from += seconds;
    return { rule, group: `<g class="s${index}">${drawRows(text)}</g>` };
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">`,
    "<title>blemees in a terminal</title>",
    `<style>text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre;fill:${COLORS.text}}`,
    ...groups.map(({ rule }) => rule),
    "</style>",
    `<rect width="${width}" height="${height}" rx="8" fill="${COLORS.background}"/>`,
    ...groups.map(({ group }) => group),
    "</svg>",
    "",
  ].join("\n");
}

/** Without animations, or before they start, the last screen is shown. */
function keyframes(index, from, to, total) {
  const percent = (part) => `${(part * 100).toFixed(2)}%`;
  const steps = [
    from === 0 ? "" : `0%,${percent(from - 0.0001)}{visibility:hidden}`,
    `${percent(from)},${percent(to - 0.0001)}{visibility:visible}`,
    to >= 1 ? "" : `${percent(to)},100%{visibility:hidden}`,
  ];
  const rest = to >= 1 ? "visible" : "hidden";
  return `@keyframes k${index}{${steps.join("")}}.s${index}{visibility:${rest};animation:k${index} ${total}s step-end infinite}`;
}

function drawRows(text) {
  return text
    .split("\n")
    .map((line, row) => drawRow(parseLine(line), row))
    .join("");
}

/** @param {readonly { text: string, style: Style, column: number }[]} spans */
function drawRow(spans, row) {
  const top = PADDING + row * CELL.height;
  const drawn = spans.map(({ text, style, column }) => {
    const { fill, back } = pickColors(style);
    const x = (PADDING + column * CELL.width).toFixed(1);
    const length = (widthOf(text) * CELL.width).toFixed(1);
    const rect =
      back === undefined
        ? ""
        : `<rect x="${x}" y="${top}" width="${length}" height="${CELL.height}" fill="${back}"/>`;
    if (text.trim() === "") return rect;
    const weight = style.bold ? ' font-weight="bold"' : "";
    const color = fill === COLORS.text ? "" : ` style="fill:${fill}"`;
    return `${rect}<text x="${x}" y="${top + 13}" textLength="${length}"${weight}${color}>${escapeXml(text)}</text>`;
  });
  return drawn.join("");
}

function pickColors({ inverse, dim, color, background }) {
  const fill = color ?? (dim ? COLORS.dim : COLORS.text);
  return inverse ? { fill: background ?? COLORS.background, back: fill } : { fill, back: background };
}

/** Splits a line at its SGR sequences. Trailing blanks without a background are dropped. */
function parseLine(line) {
  const spans = [];
  let style = /** @type {Style} */ ({});
  let column = 0;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences start with one
  for (const part of line.split(/(\x1b\[[\d;]*m)/)) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: as above
    const codes = /^\x1b\[([\d;]*)m$/.exec(part);
    if (codes) {
      style = applyCodes(style, (codes[1] || "0").split(";").map(Number));
      continue;
    }
    // biome-ignore lint/suspicious/noControlCharactersInRegex: switches of the character set
    const text = part.replace(/[\x0e\x0f]/g, "");
    if (text !== "") spans.push({ text, style, column });
    column += widthOf(text);
  }
  return spans;
}

/** @returns {Style} */
function applyCodes(style, codes) {
  let next = { ...style };
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at] ?? 0;
    if (code === 0) next = {};
    else if (code === 1) next.bold = true;
    else if (code === 2) next.dim = true;
    else if (code === 7) next.inverse = true;
    else if (code === 22) next = { ...next, bold: false, dim: false };
    else if (code === 27) next.inverse = false;
    else if (code === 39) delete next.color;
    else if (code === 49) delete next.background;
    else if (code === 38 || code === 48) {
      const key = code === 38 ? "color" : "background";
      const isIndexed = codes[at + 1] === 5;
      next[key] = isIndexed ? toHex(codes[at + 2] ?? 0) : `rgb(${codes.slice(at + 2, at + 5).join(",")})`;
      at += isIndexed ? 2 : 4;
    } else if (code >= 30 && code <= 37) next.color = BASE16[code - 30];
    else if (code >= 90 && code <= 97) next.color = BASE16[code - 82];
    else if (code >= 40 && code <= 47) next.background = BASE16[code - 40];
    else if (code >= 100 && code <= 107) next.background = BASE16[code - 92];
  }
  return next;
}

/** A color of the 256-color palette. */
function toHex(index) {
  if (index < 16) return BASE16[index];
  if (index >= 232) return `rgb(${Array(3).fill(8 + (index - 232) * 10)})`;
  const cube = index - 16;
  return `rgb(${[Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map((level) => LEVELS[level])})`;
}

/** The scenes have no wide characters. */
function widthOf(text) {
  return [...text].length;
}

function escapeXml(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
