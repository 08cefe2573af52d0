// Requests of several sessions in Chromium: the inbox and the list, by keys alone.
import type { Page } from "playwright-core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { findBrowser } from "./browser.ts";
import { Dashboard, goTo, waitsFor } from "./dashboard.ts";

const hasBrowser = findBrowser() !== undefined;
const READY = ".card.is-waiting [data-decision=accept]:not([disabled])";

let dashboard: Dashboard;

beforeEach(async () => {
  if (hasBrowser) dashboard = await Dashboard.start();
});
afterEach(async () => {
  await dashboard?.close();
});

/** One after the other, so that their order is known. */
async function ask(name: string, command: string): Promise<string> {
  const raw = { tool_name: "Bash", input: { command }, tool_use_id: `toolu_${name}` };
  const id = await dashboard.spawn(`#ask-raw ${JSON.stringify(raw)}`, name);
  await waitsFor(async () =>
    expect(await dashboard.http.requests({ session_id: id })).toMatchObject({ requests: [{}] }),
  );
  return id;
}
async function open(hash: string): Promise<Page> {
  const { page } = await dashboard.chromium.open();
  await page.goto(await dashboard.link());
  await page.waitForSelector("x-fleet .fleet-row");
  await page.evaluate((to) => {
    location.hash = to;
  }, hash);
  return page;
}
const title = (page: Page) => page.innerText(".card-title");
const shows = (page: Page, text: string) => waitsFor(async () => expect(await title(page)).toContain(text));
async function decisions(...ids: string[]): Promise<unknown[]> {
  const rows = await Promise.all(
    ids.map((session_id) => dashboard.http.allRequests({ session_id, include_settled: true })),
  );
  return rows.map(([row]) => row?.answer && "decision" in row.answer && row.answer.decision);
}

describe.skipIf(!hasBrowser)("requests of several sessions, in Chromium", () => {
  test("the inbox has the oldest first; answering shows the next, and the last one says that nothing waits", async () => {
    const ids = [await ask("first", "make 1"), await ask("second", "make 2"), await ask("third", "make 3")];
    const page = await open("#/inbox");
    await shows(page, "first");
    expect(await page.locator(".inbox-name").allInnerTexts()).toEqual(["first", "second", "third"]);
    expect(await page.title()).toBe("(3) blemees");
    expect(await page.getAttribute('link[rel="icon"]', "href")).toContain(encodeURIComponent(">3</text>"));
    await page.waitForSelector(READY);
    await page.keyboard.press("y");
    await shows(page, "second");
    await page.waitForSelector(READY);
    await page.keyboard.press("j");
    await shows(page, "third");
    await page.waitForSelector(READY);
    await page.keyboard.press("n");
    await page.keyboard.type("not this");
    await page.keyboard.press("Enter");
    await shows(page, "second");
    await page.waitForSelector(READY);
    await page.keyboard.press("y");
    await page.waitForSelector(".inbox-empty");
    expect(await decisions(...ids)).toEqual(["accept", "accept", "decline"]);
    expect(await page.title()).toBe("blemees");
    expect(await page.getAttribute('link[rel="icon"]', "href")).toBe("/web/icon.svg");
  });

  test("the same request of three sessions is one card, and each gets the answer; one that comes later is seen first", async () => {
    const ids = [await ask("a", "npm test"), await ask("b", "npm test")];
    const page = await open("#/inbox");
    await waitsFor(async () => expect(await page.innerText(".inbox-item .count")).toBe("×2"));
    await page.waitForSelector(READY);
    ids.push(await ask("c", "npm test"));
    await waitsFor(async () => expect(await title(page)).toMatch(/^a, b and c .* ask to run a command$/));
    await page.waitForSelector(READY);
    await page.keyboard.press("y");
    await page.waitForSelector(".inbox-empty");
    expect(await decisions(...ids)).toEqual(["accept", "accept", "accept"]);
    await waitsFor(async () => expect(await page.innerText(".toast")).toContain("accepted 3 of 3"));
  });

  test("from the list: the request of the row at the cursor is below it, and y accepts it", async () => {
    const ids = [await ask("one", "make 1"), await ask("two", "make 2")];
    const page = await open("#/");
    await shows(page, "one");
    await page.keyboard.press("a");
    await page.keyboard.press("a");
    await shows(page, "two");
    await page.waitForSelector(READY);
    // The key has no effect for a moment longer than on the card itself: it may have been meant for the list.
    await waitsFor(async () => {
      await page.evaluate(() => {
        const isThis = document.querySelector(".card-title")?.textContent?.includes("two") === true;
        if (isThis) document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "y", bubbles: true }));
      });
      expect(await title(page)).toContain("one");
    });
    expect(await decisions(...ids)).toEqual([undefined, "accept"]);
    expect(page.url()).toMatch(/#\/$/);
  });

  test("what is longer than the screen is not accepted by the first key: that goes to the card, whose choices stay in sight", async () => {
    const lines = (word: string) => Array.from({ length: 200 }, (_, at) => `${word} ${at}`).join("\n");
    const input = { file_path: "/tmp/long.txt", old_string: lines("old"), new_string: lines("new") };
    const raw = { tool_name: "Edit", input, tool_use_id: "toolu_long" };
    const id = await dashboard.spawn(`#ask-raw ${JSON.stringify(raw)}`, "long");
    const page = await open("#/");
    await page.waitForSelector(READY);
    await waitsFor(async () => {
      await page.keyboard.press("y");
      expect(await page.evaluate("document.activeElement.className")).toContain("card");
    });
    expect(await page.locator(".diff-line").count()).toBe(400);
    for (const at of ["start", "end"]) {
      await page.keyboard.press(at === "start" ? "Home" : "End");
      for (const button of await page.locator(".card-decide .choice").all()) {
        const { y = -1, height = 0 } = (await button.boundingBox()) ?? {};
        expect(y > 0 && y + height < 800).toBe(true);
      }
    }
    expect(await decisions(id)).toEqual([undefined]);
    await page.keyboard.press("y");
    await waitsFor(async () => expect(await decisions(id)).toEqual(["accept"]));
  });

  test("in a session y needs no click on the card, but is text in the composer", async () => {
    const id = await ask("solo", "make it");
    const page = await open("#/");
    await goTo(page, id);
    await page.waitForSelector(READY);
    await page.focus(".composer-text");
    await page.keyboard.type("yn");
    expect(await page.inputValue(".composer-text")).toBe("yn");
    await page.keyboard.press("Escape");
    await waitsFor(async () => {
      await page.keyboard.press("y");
      expect(await page.locator(".card.is-waiting").count()).toBe(0);
    });
    expect(await decisions(id)).toEqual(["accept"]);
  });
});
