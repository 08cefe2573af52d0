// npm run screenshots: the pictures in docs/images, of a real daemon in a real browser and a real terminal. Run it after
// every change of the look: test/e2e/faces/dashboard.test.ts fails while they are old.
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { HAS_TMUX, TerminalScreen } from "./bench/faces/screen.mjs";
import { findChromium } from "./find-chromium.mjs";
import { prepare, root } from "./prepare.mjs";
import { openStage } from "./screenshots/stage.mjs";
import { LIST, PICTURES, takenFrom } from "./screenshots/taken-from.mjs";

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
const TERMINAL = { file: "tui.txt", session: "totals", size: { columns: 100, rows: 32 } };

/**
 * @typedef {object} Picture
 * @property {string} file
 * @property {string} [session] its name; without one usage and activity
 * @property {"light" | "dark"} colorScheme
 * @property {{ width: number, height: number }} viewport
 */

const program = findChromium();
if (program === undefined || !HAS_TMUX) {
  console.error("pictures are taken with Chromium and tmux; one of them is not on the PATH");
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
  // Behind the next frame everything that was asked for is drawn.
  await page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 100)))");
  const path = join(PICTURES, file);
  await page.screenshot({ path });
  await page.close();
  tell(path);
}

async function takeTerminal() {
  const { file, session, size } = TERMINAL;
  const command = [
    process.execPath,
    "--import",
    join(root, "scripts/screenshots/clock.mjs"),
    join(root, "dist/sm.js"),
  ];
  const directory = stage.env["XDG_RUNTIME_DIR"] ?? "";
  const screen = new TerminalScreen(directory, [...command, "tui", session], stage.env, size);
  try {
    await screen.until((now) => now.includes("Now the tests of the cart"), "the session is not shown");
    screen.press("C-n");
    // The last row is drawn last: before that the rest may be of the screen before.
    const isAsked = (now) =>
      now.includes("asks to run a command") && /\nEnter takes > [^\n]*$/.test(now.trimEnd());
    const text = await screen.until(isAsked, "nothing is asked");
    const path = join(PICTURES, file);
    writeFileSync(path, `${text.replace(/[ \t]+$/gm, "").trimEnd()}\n`);
    tell(path);
  } finally {
    screen.close();
  }
}

/** @param {string} path */
function tell(path) {
  const { size } = statSync(path);
  if (size > MAX_BYTES) throw new Error(`${path} has ${size} bytes; ${MAX_BYTES} are enough for a picture`);
  console.error(`· ${path.slice(root.length)} (${Math.round(size / 1000)} kB)`);
}
