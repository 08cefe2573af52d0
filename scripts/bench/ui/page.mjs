// The dashboard in a real browser while events flood in: frames per second, and how much its memory grows from a
// quarter of the flood to its end.
import { setTimeout as sleep } from "node:timers/promises";
import { findChromium } from "../../find-chromium.mjs";
import { quantile } from "../rounds.mjs";

const PROGRAM = findChromium();
export const HAS_BROWSER = PROGRAM !== undefined;

/** @param {import("../measures/ui.mjs").Stage} stage */
export async function measurePage({ session_id, http, begin, plan }) {
  const { chromium } = await import("playwright-core");
  const { url } = JSON.parse(await http.ask("POST", "/web/links", {}));
  const browser = await chromium.launch({ executablePath: PROGRAM ?? "", args: ["--no-sandbox"] });
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    await page.goto(url);
    await page.waitForSelector("text=flood");
    await page.evaluate(`location.hash = ${JSON.stringify(`#/s/${session_id}`)}`);
    await page.evaluate(COUNT_FRAMES);
    await begin();
    await page.waitForSelector("text=/line \\d{5}/");
    const client = await page.context().newCDPSession(page);
    const heap = async () => {
      await client.send("HeapProfiler.collectGarbage");
      const { usedSize } = await client.send("Runtime.getHeapUsage");
      return usedSize / 1e6;
    };
    await untilSeq(http, session_id, plan.faceEvents / 4);
    const quarter = await heap();
    await untilSeq(http, session_id, plan.faceEvents);
    await sleep(500);
    const end = await heap();
    const frames = /** @type {number[]} */ (await page.evaluate("globalThis.benchFrames"));
    // The first and the last second are cut off by the measurement itself; garbage collection stops the page.
    const whole = frames.slice(1, -1).sort((a, b) => a - b);
    const what = `${plan.faceEvents} events at ${plan.faceRate}/s`;
    const common = { store: "durable" };
    return [
      {
        ...common,
        id: "ui.web.fps",
        measure: `web: frames per second, median, ${what}`,
        unit: "fps",
        value: quantile(whole, 0.5),
      },
      {
        ...common,
        id: "ui.web.fps.low",
        measure: "web: the same, 5th percentile",
        unit: "fps",
        value: quantile(whole, 0.05),
      },
      {
        ...common,
        id: "ui.web.heap",
        measure: "web: heap at the end, growth since a quarter",
        unit: "MB",
        value: end - quarter,
      },
    ];
  } finally {
    await browser.close();
  }
}

/** Records the frames per second from now on. */
const COUNT_FRAMES = `
  globalThis.benchFrames = [];
  let count = 0;
  let second = performance.now();
  const tick = (now) => {
    count += 1;
    if (now - second >= 1000) {
      globalThis.benchFrames.push((count * 1000) / (now - second));
      count = 0;
      second = now;
    }
    requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
`;

/**
 * @param {import("../http.mjs").Http} http
 * @param {string} session_id
 * @param {number} seq
 */
async function untilSeq(http, session_id, seq) {
  while (JSON.parse(await http.ask("GET", `/sessions/${session_id}`)).last_seq < seq) await sleep(100);
}
