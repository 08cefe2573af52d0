// `sm tui` while events flood in: its share of a core, how long a key takes to appear, and whether every line can be
// read afterwards.
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { cpuSeconds } from "../proc.mjs";
import { quantile } from "../rounds.mjs";
import { TerminalScreen } from "./screen.mjs";

const PROGRAM = join(import.meta.dirname, "../../../dist/sm.js");
const SIZE = { columns: 100, rows: 40 };
const KEYS_EVERY_MS = 400;
const LETTERS = "abcdefghijklmnopqrstuvwxyz";

/** @param {import("../measures/ui.mjs").Stage} stage */
export async function measureTerminal({ socketPath, directory, session_id, begin, plan, http }) {
  const env = { ...process.env, BLEMEESD_SOCKET: socketPath, BLEMEES_SOCKET: socketPath };
  const screen = new TerminalScreen(directory, [process.execPath, PROGRAM, "tui", session_id], env, SIZE);
  try {
    await screen.until((text) => text.includes("flood"), "the session is not shown");
    await begin();
    await screen.until((text) => /line \d{5}/.test(text), "no line is shown");
    const [busyBefore, startedAt] = [cpuSeconds(screen.pid), performance.now()];
    const times = await typeMeanwhile(screen, () => isRunning(http, session_id));
    const share = ((cpuSeconds(screen.pid) - busyBefore) / (performance.now() - startedAt)) * 100_000;
    const lines = linesOf(plan.faceEvents);
    const last = `line ${String(lines).padStart(5, "0")}`;
    await screen.until((text) => text.includes(last), `${last} is not shown`);
    const lost = await countLost(screen, lines);
    const what = `${plan.faceEvents} events at ${plan.faceRate}/s`;
    const common = { store: "durable" };
    return [
      { ...common, id: "ui.tui.cpu", measure: `TUI: share of a core, ${what}`, unit: "%", value: share },
      {
        ...common,
        id: "ui.tui.input",
        measure: "TUI: time until a key appears, p95",
        unit: "ms",
        value: quantile(times, 0.95),
      },
      { ...common, id: "ui.tui.lost", measure: `TUI: lines lost of ${lines}`, unit: "", value: lost },
    ];
  } finally {
    screen.close();
  }
}

/**
 * Types a letter now and then until the flood is over.
 * @param {TerminalScreen} screen
 * @param {() => Promise<boolean>} goesOn
 */
async function typeMeanwhile(screen, goesOn) {
  const times = [];
  let typed = "";
  while (await goesOn()) {
    const letter = LETTERS[times.length % LETTERS.length] ?? "a";
    if (typed.length >= 40) {
      screen.press("C-u");
      await screen.until((text) => !text.includes(typed), "the line is not cleared");
      typed = "";
    }
    typed += letter;
    const startedAt = performance.now();
    screen.type(letter);
    await screen.until((text) => text.includes(typed), `"${typed}" is not shown`);
    times.push(performance.now() - startedAt);
    await sleep(KEYS_EVERY_MS);
  }
  screen.press("C-u");
  return times;
}

/**
 * Reads the whole feed from its end to its beginning, page by page.
 * @param {TerminalScreen} screen
 * @param {number} lines
 */
async function countLost(screen, lines) {
  const seen = new Set();
  for (let before = ""; ; ) {
    const text = await screen.settled();
    for (const [, number] of text.matchAll(/line (\d{5})/g)) seen.add(Number(number));
    if (seen.has(1)) break;
    screen.press("PageUp");
    before = text;
    try {
      await screen.until((now) => now !== before, "the beginning was never reached");
    } catch {
      break; // lines still missing are lost
    }
  }
  return lines - seen.size;
}

/**
 * As the agent counts them: 40 of each 43 events are lines.
 * @param {number} events
 */
function linesOf(events) {
  let lines = 0;
  for (let left = events; left > 0; left -= Math.min(left, 3)) {
    const some = Math.min(40, Math.max(0, left - 3));
    lines += some;
    left -= some;
  }
  return lines;
}

/**
 * @param {import("../http.mjs").Http} http
 * @param {string} session_id
 */
async function isRunning(http, session_id) {
  return JSON.parse(await http.ask("GET", `/sessions/${session_id}`)).turn !== undefined;
}
