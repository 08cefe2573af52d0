// npm run screenshots: the pictures in docs/images, of a real daemon in a real browser and a real terminal. Run it
// after every change of the look: test/e2e/ui/dashboard.test.ts fails while they are outdated.
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { HAS_TMUX, TerminalScreen } from "./bench/ui/screen.mjs";
import { findChromium } from "./find-chromium.mjs";
import { prepare, root } from "./prepare.mjs";
import { openStage } from "./screenshots/stage.mjs";
import { LIST, PICTURES, takenFrom } from "./screenshots/taken-from.mjs";
import { toAnimatedSvg } from "./screenshots/terminal-svg.mjs";

const MAX_BYTES = 200_000;
const WINDOW = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };
/** @type {readonly Picture[]} */
const PAGES = [
  { file: "dashboard-light.png", session: "totals", colorScheme: "light", viewport: WINDOW },
  { file: "dashboard-dark.png", session: "totals", colorScheme: "dark", viewport: WINDOW },
  { file: "dashboard-phone.png", session: "totals", colorScheme: "light", viewport: PHONE },
  { file: "usage-light.png", colorScheme: "light", viewport: WINDOW },
];
const TERMINAL = {
  file: "tui.txt",
  recording: "terminal.svg",
  session: "totals",
  size: { columns: 100, rows: 32 },
};

/**
 * @typedef {object} Picture
 * @property {string} file
 * @property {string} [session] its name; without one usage and activity
 * @property {"light" | "dark"} colorScheme
 * @property {{ width: number, height: number }} viewport
 */

const program = findChromium();
if (program === undefined || !HAS_TMUX) {
  console.error("Chromium and tmux are needed; at least one is not on the PATH");
  process.exit(1);
}
prepare();
mkdirSync(PICTURES, { recursive: true });
const stage = await openStage();
try {
  await takeTerminal();
  const browser = await chromium.launch({ executablePath: program, args: ["--no-sandbox"] });
  for (const picture of PAGES) await takePage(browser, picture);
  await browser.close();
  writeFileSync(LIST, `${JSON.stringify(takenFrom(), null, 2)}\n`);
} finally {
  await stage.close();
}

/**
 * @param {import("playwright-core").Browser} browser
 * @param {Picture} picture
 */
async function takePage(browser, { file, session, colorScheme, viewport }) {
  const isPhone = viewport === PHONE;
  const page = await browser.newPage({
    viewport,
    colorScheme,
    timezoneId: "UTC",
    locale: "en-GB",
    hasTouch: isPhone,
    isMobile: isPhone,
    reducedMotion: "reduce",
  });
  await page.addInitScript(stage.pageClock());
  const { url } = JSON.parse(await stage.http.ask("POST", "/web/links", {}));
  await page.goto(url);
  await page.waitForSelector("x-fleet .fleet-row");
  const hash = session === undefined ? "#/stats" : `#/s/${stage.ids.get(session)}`;
  await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
  await page.waitForSelector(
    session === undefined ? ".chart-canvas canvas" : ".card.is-waiting [data-decision=accept]:enabled",
  );
  // After the next frame everything is drawn.
  await page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 100)))");
  const path = join(PICTURES, file);
  await page.screenshot({ path });
  await page.close();
  reportSize(path);
}

/** The recording: the list, and a session with its request, which is also kept as plain text. */
async function takeTerminal() {
  const { file, recording, session, size } = TERMINAL;
  const command = [
    process.execPath,
    "--import",
    join(root, "scripts/screenshots/clock.mjs"),
    join(root, "dist/blemees.js"),
  ];
  const directory = stage.env["XDG_RUNTIME_DIR"] ?? "";
  const screen = new TerminalScreen(directory, command, stage.env, size);
  const shots = [];
  const record = async (seconds) => {
    await screen.settled();
    shots.push({ text: screen.text({ colors: true }).trimEnd(), seconds });
  };
  try {
    await screen.until((now) => now.includes(session), "the list is not shown");
    await record(3);
    // The session's request opens by itself.
    screen.press("w", "Enter");
    // The last row is drawn last; until it appears, the rest may be from the previous screen.
    const isAsked = (now) =>
      now.includes("asks to run a command") && /\nEnter take > [^\n]*$/.test(now.trimEnd());
    const text = await screen.until(isAsked, "no request is shown");
    await record(4);
    write(file, `${text.replace(/[ \t]+$/gm, "").trimEnd()}\n`);
    write(recording, toAnimatedSvg(shots, size));
  } finally {
    screen.close();
  }
}

function write(file, text) {
  const path = join(PICTURES, file);
  writeFileSync(path, text);
  reportSize(path);
}

/** @param {string} path */
function reportSize(path) {
  const { size } = statSync(path);
  if (size > MAX_BYTES) throw new Error(`${path} has ${size} bytes; the limit is ${MAX_BYTES}`);
  console.error(`· ${path.slice(root.length)} (${Math.round(size / 1000)} kB)`);
}
