// The dashboard over restarts of the daemon, in Chromium: turns stream on, and requests stay and can be answered. Pictures of
// the page are kept below .e2e/screens.
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { PATIENT } from "../../support/patience.ts";
import { ROOT } from "../../support/root.ts";
import { findBrowser } from "./browser.ts";
import { Dashboard, feedText, shows, stateIs, waitsFor } from "./dashboard.ts";
import { ALL_WORDS, ASKING_TURN, gatedTurn, RESTARTS, type Restart, wordsIn } from "./restarts.ts";

const hasBrowser = findBrowser() !== undefined;
const WAITING = ".card.is-waiting";

let dashboard: Dashboard;

beforeAll(async () => {
  if (hasBrowser) dashboard = await Dashboard.start();
});
afterEach(() => dashboard?.chromium.closeWindows());
afterAll(async () => {
  await dashboard?.close();
});

/** Resolves when the new daemon serves the page's port. */
async function restartUnder(restart: Restart["restart"], whileDown?: () => Promise<void>): Promise<void> {
  dashboard.use(await restart(dashboard.daemon, whileDown));
  await expect.poll(() => dashboard.daemon.log(), PATIENT).toContain('"http.listen"');
}

async function save(page: Page, way: string, name: string): Promise<void> {
  const folder = way.replaceAll(/\W+/g, "-");
  await page.screenshot({ path: join(ROOT, ".e2e/screens/web-restart", folder, `${name}.png`) });
}

/** The page is as after any other turn: complete, and without a trace of the restart. */
async function isWhole(page: Page): Promise<void> {
  await waitsFor(async () => expect(wordsIn(await feedText(page))).toEqual(ALL_WORDS));
  await stateIs(page, "idle");
  await waitsFor(async () => expect(await page.locator(".banner, .toast, [role=alert]").count()).toBe(0));
  expect(await page.getAttribute("x-app", "data-connection")).toBe("live");
}

describe.skipIf(!hasBrowser).each(RESTARTS)("$way, under a page in Chromium", ({ way, restart }) => {
  test("a turn streams on: every word once and in order, the draft is kept", async () => {
    const turn = gatedTurn(dashboard.daemon);
    const id = await dashboard.spawn(turn.prompt);
    const { page } = await dashboard.look(id);
    await page.fill(".composer-text", "a draft");
    await shows(page, /tick3\b/);
    await save(page, way, "1-streaming");
    await restartUnder(restart, () => save(page, way, "2-down"));
    await shows(page, /tick39\b/);
    await save(page, way, "3-after");
    turn.open();
    await isWhole(page);
    await save(page, way, "4-whole");
    expect(await page.inputValue(".composer-text")).toBe("a draft");
  });

  test("a request stays, and is answered after it", async () => {
    const id = await dashboard.spawn(ASKING_TURN);
    const { page } = await dashboard.look(id);
    await page.waitForSelector(WAITING);
    const card = await page.innerText(WAITING);
    await save(page, way, "5-asked");
    await restartUnder(restart, async () => {
      expect(await page.innerText(WAITING)).toBe(card);
      await save(page, way, "6-asked-down");
    });
    expect(await page.innerText(WAITING)).toBe(card);
    await save(page, way, "7-asked-after");
    await page.click(`${WAITING} [data-decision="accept"]`);
    await isWhole(page);
    await save(page, way, "8-answered");
    expect(await page.locator(WAITING).count()).toBe(0);
    expect((await feedText(page)).match(/"behavior":"allow"/g)).toHaveLength(1);
    expect(await dashboard.http.allRequests({ session_id: id, include_settled: true })).toMatchObject([
      { status: "resolved", resolution_source: "web", answer: { decision: "accept" } },
    ]);
  });
});
