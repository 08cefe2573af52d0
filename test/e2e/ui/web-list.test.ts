// The session list and usage in Chromium: labels, filters, projects, archived sessions, and sums by session.
import type { Page } from "playwright-core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { findBrowser } from "./browser.ts";
import { Dashboard, goTo, waitsFor } from "./dashboard.ts";

const hasBrowser = findBrowser() !== undefined;

let dashboard: Dashboard;

beforeEach(async () => {
  if (hasBrowser) dashboard = await Dashboard.start();
});
afterEach(async () => {
  await dashboard?.close();
});

async function open(): Promise<Page> {
  const { page } = await dashboard.chromium.open();
  await page.goto(await dashboard.link());
  await page.waitForSelector("x-fleet .fleet-row");
  return page;
}
const lists = (page: Page, names: readonly string[]) =>
  waitsFor(async () => expect(await page.locator(".fleet-name > .cut").allInnerTexts()).toEqual(names));
const toHash = (page: Page, hash: string) =>
  page.evaluate((to) => {
    location.hash = to;
  }, hash);
async function idle(id: string): Promise<void> {
  await dashboard.http.wait(id, { until: ["idle"] });
}

describe.skipIf(!hasBrowser)("the session list, in Chromium", () => {
  test("labels are edited in a session, shown in the list and filtered by; an archived session leaves it and comes back", async () => {
    const first = await dashboard.spawn(undefined, "first");
    await dashboard.spawn(undefined, "second");
    const page = await open();
    await goTo(page, first);
    await page.click('.session-actions >> text="Labels"');
    await page.keyboard.type("api urgent");
    await page.keyboard.press("Enter");
    await waitsFor(async () =>
      expect(await page.locator(".session-sub .label").allInnerTexts()).toEqual(["api", "urgent"]),
    );
    expect((await dashboard.http.session(first)).labels).toEqual(["api", "urgent"]);
    await page.fill('x-fleet input[type="search"]', "#api");
    await lists(page, ["first"]);
    await page.fill('x-fleet input[type="search"]', "");
    await page.click('[aria-controls="fleet-filters"]');
    await page.selectOption('.fleet-choice:has-text("Label") select', "urgent");
    await lists(page, ["first"]);
    await page.click('.session-actions >> text="Archive"');
    await page.click('.fleet-list >> text="Clear the filters"');
    await lists(page, ["second"]);
    await page.click('.fleet-states >> text="archived"');
    await lists(page, ["first"]);
    await page.click('.session-actions >> text="Unarchive"');
    await page.click('.fleet-states >> text="archived"');
    await waitsFor(async () => expect(await page.locator(".fleet-row").count()).toBe(2));
  });

  test("a label that is not allowed is refused with the reason, and nothing changes", async () => {
    const id = await dashboard.spawn(undefined, "one");
    const page = await open();
    await goTo(page, id);
    await page.click('.session-actions >> text="Labels"');
    await page.keyboard.type("fine <b>");
    await page.keyboard.press("Enter");
    await waitsFor(async () => expect(await page.innerText(".toast")).toContain("expected 1-40 characters"));
    expect((await dashboard.http.session(id)).labels).toBeUndefined();
  });

  test("by project the list has its sums, and the choice is kept", async () => {
    await dashboard.spawn(undefined, "one");
    const page = await open();
    await page.click('[aria-controls="fleet-filters"]');
    await page.selectOption('.fleet-choice:has-text("List") select', "project");
    await waitsFor(async () =>
      expect(await page.getAttribute(".fleet-group", "data-group")).toMatch(/^project /),
    );
    await page.reload();
    await page.waitForSelector(".fleet-group[data-group^=project]");
  });

  test("usage has the sums of any range, by session with a link to it", async () => {
    const id = await dashboard.spawn("#say done", "worker");
    await idle(id);
    const page = await open();
    await toHash(page, "#/usage");
    await page.click('.chart-panel .segments >> text="Session"');
    await waitsFor(async () => expect(await page.innerText(".figures tbody")).toContain("worker"));
    expect(await page.getAttribute(".figures tbody a", "href")).toBe(`#/s/${id}`);
    await page.fill('input[type="date"] >> nth=1', "2020-01-02");
    await waitsFor(async () => expect(await page.innerText(".error-text")).toContain("after the last"));
    await page.fill('input[type="date"] >> nth=0', "2020-01-01");
    await waitsFor(async () => expect(await page.innerText(".empty")).toContain("No turn ended"));
  });
});
