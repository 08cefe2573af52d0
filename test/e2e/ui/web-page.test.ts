// The dashboard as a page in Chromium: links and tokens, a daemon that stops and restarts, many tabs, notifications,
// and actions on a whole session.
import { once } from "node:events";
import { createServer } from "node:net";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { findBrowser, type Window } from "./browser.ts";
import { Dashboard, feedText, goTo, say, shows, stateIs, waitsFor } from "./dashboard.ts";

const hasBrowser = findBrowser() !== undefined;

let dashboard: Dashboard;

beforeAll(async () => {
  if (hasBrowser) dashboard = await Dashboard.start();
});
afterEach(() => dashboard?.chromium.closeWindows());
afterAll(async () => {
  await dashboard?.close();
});

const action = (name: string): string => `.session-actions >> text="${name}"`;
const portOf = (page: Page): number => Number(new URL(page.url()).port);
/** Like opening a link to an open page in the address bar: only its hash changes. */
const follow = (page: Page, url: string): Promise<void> =>
  page.evaluate((address) => {
    location.href = address;
  }, url);

describe.skipIf(!hasBrowser)("the page, in Chromium", () => {
  test("a link opened in a tab without a token signs it in, and is removed from the address", async () => {
    const { page } = await dashboard.chromium.open();
    const url = await dashboard.link();
    await page.goto(new URL("/", url).href);
    await page.waitForSelector(".gate");
    await follow(page, url);
    await page.waitForSelector("x-fleet");
    expect(page.url()).not.toContain("token");
  });

  test("a signed-in tab stays where it is when a link is opened in it, used or not", async () => {
    const id = await dashboard.spawn("#say still here");
    const { page } = await dashboard.look(id);
    await shows(page, "still here");
    await page.fill(".composer-text", "a draft");
    const url = await dashboard.link();
    for (const link of [url, url]) {
      await follow(page, link);
      await waitsFor(async () => expect(page.url()).toContain(`#/s/${id}`));
      expect(await page.inputValue(".composer-text")).toBe("a draft");
      expect(page.url()).not.toContain("token");
    }
  });

  // More than the six connections that a browser opens to one address.
  test("eight tabs on one session all show its events, and the API answers in each", async () => {
    const id = await dashboard.spawn("#say begun");
    const { context } = await dashboard.chromium.open();
    const tabs: Window[] = [];
    for (let count = 0; count < 8; count += 1) {
      const tab = await dashboard.chromium.tab(context);
      await tab.page.goto(await dashboard.link());
      await goTo(tab.page, id);
      tabs.push(tab);
    }
    for (const { page } of tabs) await shows(page, "begun");
    await say((tabs[7] as Window).page, "#say to all of them");
    for (const { page } of tabs) await shows(page, /^to all of them$/m);
  });

  test("a hidden tab notifies of a request, once, and links to it; earlier events cause no notification", async () => {
    const asked = await dashboard.spawn("#ask make early");
    const { page, context } = await dashboard.chromium.open();
    await context.grantPermissions(["notifications"], { origin: new URL(await dashboard.link()).origin });
    await page.addInitScript(() => {
      const notes: { title: string; body: string; onclick: (() => void) | undefined }[] = [];
      class Recorded {
        static permission = "granted";
        onclick: (() => void) | undefined;
        constructor(title: string, { body = "" }: NotificationOptions) {
          notes.push(Object.assign(this, { title, body }));
        }
        close(): void {}
      }
      let isHidden = false;
      Object.defineProperty(document, "visibilityState", { get: () => (isHidden ? "hidden" : "visible") });
      const hide = (value: boolean): void => {
        isHidden = value;
        document.dispatchEvent(new Event("visibilitychange"));
      };
      Object.assign(globalThis, { Notification: Recorded, notes, hide });
    });
    await page.goto(await dashboard.link());
    await page.waitForSelector(".waiting:not([hidden])");
    await page.evaluate("hide(true)");
    const id = await dashboard.spawn("#ask make \u202esomething", "the <b>asker</b>");
    await waitsFor(async () => expect(await page.evaluate("notes.length")).toBe(1));
    expect(await page.evaluate("[notes[0].title, notes[0].body]")).toEqual([
      "the <b>asker</b> needs your answer",
      expect.stringContaining("make <U+202E>something"),
    ]);
    await waitsFor(async () => expect(await page.title()).toMatch(/^\(2\) /));
    await page.evaluate("hide(false)");
    await page.evaluate("notes[0].onclick()");
    await page.waitForSelector(".card.is-waiting");
    expect(page.url()).toContain(`#/s/${id}`);
    for (const session_id of [id, asked]) await dashboard.http.stop(session_id);
    expect(await page.evaluate("notes.length")).toBe(1);
  });

  test("earlier events are loaded on demand, and the reading position stays", async () => {
    const id = await dashboard.spawn("#say the very first");
    await dashboard.http.wait(id);
    for (const count of [1, 2, 3]) {
      await dashboard.http.input(id, { text: `#flood 900 20 #say part ${count} is over` });
      await dashboard.http.wait(id);
    }
    await dashboard.http.input(id, { text: "#say the end" });
    const { page } = await dashboard.look(id);
    await shows(page, /^the end$/m);
    await page.locator(".feed").evaluate((feed) => feed.scrollTo(0, 0));
    for (let step = 0; step < 5 && (await page.locator(".feed-earlier button").count()) > 0; step += 1) {
      await page.click(".feed-earlier button");
      await waitsFor(async () => expect(await page.locator(".feed-earlier button:disabled").count()).toBe(0));
      await page.locator(".feed").evaluate((feed) => feed.scrollTo(0, 0));
    }
    await shows(page, /^the very first$/m);
    await page.click(".below");
    await shows(page, /^the end$/m);
    expect((await feedText(page)).match(/^the end$/gm)).toHaveLength(1);
  });

  test("find goes from match to match, also far out of view", async () => {
    const lines = Array.from({ length: 300 }, (_, n) => `paragraph ${n}\n\n`).join("");
    const id = await dashboard.spawn(`#say the needle is here`);
    await dashboard.http.wait(id);
    for (let count = 0; count < 3; count += 1) {
      await dashboard.http.input(id, { text: `#say ${JSON.stringify(lines).slice(1, -1)}` });
      await dashboard.http.wait(id);
    }
    const { page } = await dashboard.look(id);
    await waitsFor(async () => expect(await page.locator(".feed-item").count()).toBeGreaterThan(2));
    await page.keyboard.press("f");
    await page.keyboard.type("NEEDLE");
    await page.waitForSelector(".entry.is-found");
    await shows(page, "the needle is here");
    expect(await page.innerText(".search-count")).toMatch(/^2 of 2$/);
    await page.keyboard.press("Enter");
    await waitsFor(async () => expect(await page.innerText(".search-count")).toBe("1 of 2"));
    await page.keyboard.press("Escape");
    await waitsFor(async () => expect(await page.locator(".search").count()).toBe(0));
  });

  test("a session is renamed, stopped and removed; pages that show it are updated", async () => {
    const id = await dashboard.spawn("#say hello", "before");
    const [one, two] = [await dashboard.look(id), await dashboard.look(id)];
    await one.page.click(action("Rename"));
    await one.page.keyboard.type("after <i>\u202e");
    await one.page.keyboard.press("Enter");
    for (const { page } of [one, two])
      await waitsFor(async () => expect(await page.innerText("h1.session-title")).toBe("after <i><U+202E>"));
    await one.page.click(action("Stop"));
    for (const { page } of [one, two]) await stateIs(page, "stopped");
    await one.page.click(action("Remove"));
    expect(await one.page.innerText("dialog")).toContain("after <i>");
    await one.page.click("dialog .danger");
    await waitsFor(async () => expect(one.page.url()).toMatch(/#\/$/));
    await two.page.waitForSelector(".session .banner");
    expect(await two.page.innerText(".session .banner")).toContain("removed");
    expect(await two.page.locator(".composer-text").count()).toBe(0);
  });

  test("ages and turns are right on a machine whose clock is wrong", async () => {
    const id = await dashboard.spawn("#slow 400 100", "slow one");
    const { page } = await dashboard.chromium.open();
    await page.addInitScript(() => {
      const now = Date.now;
      Date.now = () => now() + 3_600_000;
    });
    await page.goto(await dashboard.link());
    await goTo(page, id);
    await waitsFor(async () =>
      expect(await page.innerText('[data-fact="turn"]')).toMatch(/^Turn\s+[\d.]+s$/i),
    );
    await dashboard.http.interrupt(id);
  });

  test("text typed while a message is being sent stays, and one that did not arrive comes back", async () => {
    const id = await dashboard.spawn("#say ready");
    const { page } = await dashboard.look(id);
    await shows(page, "ready");
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route("**/input", async (route) => {
      await held;
      await route.continue();
    });
    await say(page, "#say first");
    await page.keyboard.type("the next one");
    release();
    await shows(page, /^first$/m);
    expect(await page.inputValue(".composer-text")).toBe("the next one");
    await page.unroute("**/input");
    await page.route("**/input", (route) => route.abort());
    await page.press(".composer-text", "Enter");
    await page.waitForSelector(".composer .error-text");
    expect(await page.inputValue(".composer-text")).toBe("the next one");
    await page.unroute("**/input");
    await page.reload();
    await waitsFor(async () => expect(await page.inputValue(".composer-text")).toBe("the next one"));
  });

  test("a daemon whose port is gone: the page shows what to do and continues on its own; another token needs a link", async () => {
    const id = await dashboard.spawn("#say before");
    const { page } = await dashboard.look(id);
    await shows(page, "before");
    await page.fill(".composer-text", "a draft");
    const port = portOf(page);
    const { home } = dashboard.daemon;
    await dashboard.daemon.kill("SIGKILL");
    // The next daemon opens it again, unless another program has it.
    const other = createServer((socket) => socket.destroy()).listen(port, "127.0.0.1");
    await once(other, "listening");
    await dashboard.replace(home);
    await page.waitForSelector(".banner code");
    expect(await page.innerText(".banner code")).toBe(`blemees web --port ${port}`);
    other.close();
    await once(other, "close");
    await dashboard.link(port);
    await waitsFor(async () => expect(await page.locator(".banner").count()).toBe(0));
    await say(page, "#say afterwards");
    await shows(page, /^afterwards$/m);

    await page.fill(".composer-text", "another draft");
    await dashboard.daemon.close();
    await dashboard.replace();
    const link = await dashboard.link(port);
    await page.waitForSelector(".gate");
    expect(await page.innerText(".gate")).toContain("blemees web");
    await follow(page, link);
    await page.waitForSelector("x-fleet");
    expect(page.url()).not.toContain("token");
    await page.waitForSelector(".session .banner");
    expect(await page.innerText(".session .banner")).toContain("not found");
  });
});
