// An agent's requests, in Chromium: by mouse and by keys alone, on a phone, by two users at once, withdrawn meanwhile.
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { reveal } from "../../../src/base/sanitize.ts";
import { findBrowser, type Window } from "./browser.ts";
import { Dashboard, feedText, say, shows, waitsFor } from "./dashboard.ts";

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

const choice = (decision: string) => `${WAITING} [data-decision="${decision}"]`;
const nothingWaits = (page: Page) =>
  waitsFor(async () => expect(await page.locator(WAITING).count()).toBe(0));
/** Every key goes to the focused element, as when a user types. */
async function press(page: Page, ...keys: string[]): Promise<void> {
  for (const key of keys) await page.keyboard.press(key);
}

describe.skipIf(!hasBrowser)("requests, in Chromium", () => {
  test("a card that appears under the pointer accepts nothing for a moment, and shows it", async () => {
    const id = await dashboard.spawn();
    const { page } = await dashboard.look(id);
    // A user who was about to press something else when the card appeared.
    await page.evaluate(() => {
      const seen: boolean[] = [];
      Object.assign(globalThis, { seen });
      document.addEventListener("card-drawn", ({ target }) => {
        const card = target as HTMLElement;
        const accept = card.querySelector<HTMLButtonElement>('[data-decision="accept"]');
        seen.push(accept?.disabled === true);
        accept?.click();
        card.focus();
        card.dispatchEvent(new KeyboardEvent("keydown", { key: "y", bubbles: true }));
      });
    });
    await say(page, "#ask rm -rf build");
    await page.waitForSelector(`${choice("accept")}:not([disabled])`);
    expect(await page.evaluate("seen")).toEqual([true]);
    expect((await dashboard.http.allRequests({ session_id: id })).map(({ status }) => status)).toEqual([
      "pending",
    ]);
    await page.click(choice("accept"));
    await nothingWaits(page);
    await shows(page, '"behavior":"allow"');
  });

  test("by keys alone: text never answers, `a` goes to the card, and y, n and a reason decide", async () => {
    const id = await dashboard.spawn();
    const { page } = await dashboard.look(id);
    await say(page, "#ask make one");
    await page.waitForSelector(`${choice("accept")}:not([disabled])`);
    // The composer still has the focus: this is text, and nothing is sent.
    await press(page, "y", "Enter");
    expect(await page.inputValue(".composer-text")).toBe("y");
    expect(await page.locator(WAITING).count()).toBe(1);
    await press(page, "Backspace", "Escape", "a", "Enter");
    expect(await page.locator(WAITING).count()).toBe(1);
    await press(page, "y");
    await nothingWaits(page);
    await shows(page, '"behavior":"allow"');

    await press(page, "i");
    await page.keyboard.type("#ask make two");
    await press(page, "Enter");
    await page.waitForSelector(`${choice("accept")}:not([disabled])`);
    await press(page, "Escape", "a", "n");
    await page.keyboard.type("not today <b>");
    await press(page, "Enter");
    await nothingWaits(page);
    await shows(page, '"behavior":"deny"');
    await shows(page, "not today <b>");
  });

  test("questions are a form: nothing can be sent before each has an answer", async () => {
    const id = await dashboard.spawn("#question");
    const { page } = await dashboard.look(id);
    await page.waitForSelector("fieldset.question");
    await page.waitForSelector(`${choice("decline")}:not([disabled])`);
    expect(await page.isDisabled(choice("accept"))).toBe(true);
    await page.check("label.option:has-text('Blue') input");
    expect(await page.isDisabled(choice("accept"))).toBe(true);
    const sizes = page.locator("fieldset.question").nth(1);
    for (const box of await sizes.locator('input[type="checkbox"]').all()) await box.check();
    await page.click(choice("accept"));
    await nothingWaits(page);
    await shows(page, "Blue");
  });

  test("on a phone the card fits: no horizontal scrolling, and every choice can be reached", async () => {
    const id = await dashboard.spawn(`#ask ${"echo a-very-long-word/".repeat(60)}`);
    const phone = { viewport: { width: 360, height: 640 }, hasTouch: true, isMobile: true };
    const { page } = await dashboard.look(id, phone);
    await page.waitForSelector(`${choice("decline")}:not([disabled])`);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(360);
    for (const button of await page.locator(`${WAITING} .choice`).all()) {
      await button.scrollIntoViewIfNeeded();
      const box = await button.boundingBox();
      expect(box?.height).toBeGreaterThanOrEqual(36);
      expect((box?.x ?? 0) + (box?.width ?? 999)).toBeLessThanOrEqual(360);
    }
    await page.tap(choice("decline"));
    await page.tap('.card-decline [data-decision="decline"]');
    await nothingWaits(page);
  });

  test("a choice that remembers something is wholly in sight when a key goes to it, not under the other choices", async () => {
    const content = Array.from({ length: 400 }, (_, n) => `line ${n}`).join("\n");
    const permission_suggestions = [{ type: "setMode", mode: "acceptEdits", destination: "session" }];
    const input = { file_path: "/tmp/new.txt", content };
    const raw = { tool_name: "Write", input, tool_use_id: "toolu_w", permission_suggestions };
    const id = await dashboard.spawn(`#ask-raw ${JSON.stringify(raw)}`);
    for (const viewport of [
      { width: 1280, height: 800 },
      { width: 360, height: 640 },
    ]) {
      const { page } = await dashboard.look(id, { viewport });
      await page.waitForSelector(`${choice("accept")}:not([disabled])`);
      await press(page, "Escape", "a", "2");
      const covered = await page.locator(":focus").evaluate((button: HTMLElement) => {
        const { x, top, bottom } = button.getBoundingClientRect();
        const edges = [top + 4, bottom - 4].map((y) => document.elementFromPoint(x + 20, y));
        return edges.filter((element) => !button.contains(element)).map((element) => element?.className);
      });
      expect(await page.innerText(":focus")).toContain("Accept for this session");
      expect(covered).toEqual([]);
    }
  });

  test("two users answer at once: one answer counts, and the other user sees it", async () => {
    const id = await dashboard.spawn("#ask make it");
    const windows = [await dashboard.look(id), await dashboard.look(id)];
    for (const { page } of windows) await page.waitForSelector(`${choice("accept")}:not([disabled])`);
    const [one, two] = windows;
    const click = (window: Window | undefined, decision: string) =>
      window?.page.locator(choice(decision)).evaluate((button: HTMLElement) => button.click());
    await Promise.all([click(one, "accept"), click(two, "cancel")]);
    for (const { page } of windows) await nothingWaits(page);
    // Its end may arrive before the name of the client that answered.
    await waitsFor(async () => {
      const outcomes = await Promise.all(windows.map(({ page }) => page.innerText(".card-outcome")));
      expect(new Set(outcomes).size).toBe(1);
      expect(outcomes[0]).toMatch(/^(Accepted|Declined)/);
    });
  });

  test("a request that is withdrawn while it is read says so, and can no longer be decided", async () => {
    const id = await dashboard.spawn("#ask make it");
    const { page } = await dashboard.look(id);
    await page.click(choice("decline"));
    await page.fill(".card-decline textarea", "half a reason");
    await dashboard.http.interrupt(id);
    await page.waitForSelector(".card-outcome");
    expect(await page.innerText(".card-outcome")).toMatch(/^(Withdrawn|No longer needed)/);
    expect(await page.locator(".card button.choice").count()).toBe(0);
  });

  test("two requests at once are shown one below the other, and each gets its own answer", async () => {
    const id = await dashboard.spawn("#ask-two make");
    const { page } = await dashboard.look(id);
    await waitsFor(async () => expect(await page.locator(WAITING).count()).toBe(2));
    const second = page.locator(WAITING, { hasText: "make 2" });
    await second.locator('[data-decision="decline"]').click();
    await second.locator("textarea").fill("not this one");
    await page.locator(WAITING, { hasText: "make 1" }).locator('[data-decision="accept"]').click();
    // The second one moves up when the first one goes, and a click on a button that moves is lost.
    await waitsFor(async () => expect(await page.locator(WAITING).count()).toBe(1));
    expect(await second.locator("textarea").inputValue()).toBe("not this one");
    await second.locator('.card-decline [data-decision="decline"]').click();
    await nothingWaits(page);
    await shows(page, /"behavior":"allow".*"behavior":"deny".*not this one/);
  });

  test("the content to decide on is in the page completely and byte for byte, with deceptive characters made visible", async () => {
    const command = `echo "<b>ok</b>" \u202e\u200b\u00a0;\trm -rf ~ # ${"x".repeat(9_000)}\nsecond\r line 'end'`;
    const raw = { tool_name: "Bash", input: { command }, tool_use_id: "toolu_x" };
    const id = await dashboard.spawn(`#ask-raw ${JSON.stringify(raw)}`);
    const { page } = await dashboard.look(id);
    await page.waitForSelector(WAITING);
    const shown = page.locator(`${WAITING} .card-section[data-form="command"] .exact`);
    expect(await shown.evaluate((element) => element.textContent)).toBe(reveal(command));
    await page.click(choice("decline"));
    await page.click('.card-decline [data-decision="decline"]');
    await nothingWaits(page);
    expect(await feedText(page)).not.toContain("\u202e");
  });

  test("a diff of ten thousand lines is shown completely, line by line", async () => {
    const content = Array.from({ length: 10_000 }, (_, n) => (n % 7 === 0 ? "" : `line ${n} <i>`)).join("\n");
    const raw = { tool_name: "Write", input: { file_path: "/tmp/new.txt", content }, tool_use_id: "toolu_w" };
    const id = await dashboard.spawn(`#ask-raw ${JSON.stringify(raw)}`);
    const { page } = await dashboard.look(id);
    await page.waitForSelector(WAITING);
    const [request] = await dashboard.http.allRequests({ session_id: id });
    const whole = await dashboard.http.request(id, request?.request_id ?? "");
    const diff = whole.payload.changes?.[0]?.diff ?? "";
    expect(diff.split("\n").length).toBeGreaterThan(10_000);
    const shown = await page.locator(`${WAITING} .diff-lines`).evaluate((element) => element.textContent);
    expect(shown).toBe(`${reveal(diff.replace(/\n$/, ""))}\n`);
    await page.click(choice("cancel"));
    await nothingWaits(page);
  });
});
