// How the dashboard looks to users: on touch screens, zoomed in, by accessible names, to a new user; and whether the
// pictures in docs/ are current. With the setup of `npm run screenshots`: a scripted agent under the real daemon.
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type OpenStage, openStage } from "../../../scripts/screenshots/stage.mjs";
import { LIST, PICTURES, takenFrom } from "../../../scripts/screenshots/taken-from.mjs";
import type { SessionView } from "../../../src/protocol/views.ts";
import { Chromium, findBrowser } from "./browser.ts";

const hasBrowser = findBrowser() !== undefined;
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const TABLET = { viewport: { width: 820, height: 1180 }, hasTouch: true };
/** Text twice as big in a window of 1280x800. */
const ZOOMED = { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 };
const MAX_BYTES = 200_000;

let stage: OpenStage;
let chromium: Chromium;

beforeAll(async () => {
  if (!hasBrowser) return;
  [stage, chromium] = await Promise.all([openStage(), Chromium.start()]);
});
afterEach(() => chromium?.closeWindows());
afterAll(async () => {
  if (!hasBrowser) return;
  await stage.close();
  await chromium.close();
});

async function look(
  how: Parameters<Chromium["open"]>[0],
  hash = "#/",
  { http, pageClock }: OpenStage = stage,
): Promise<Page> {
  const { page } = await chromium.open({ timezoneId: "UTC", ...how });
  await page.addInitScript(pageClock());
  const { url } = JSON.parse(await http.ask("POST", "/web/links", {})) as { url: string };
  await page.goto(url);
  await page.waitForSelector("x-fleet .fleet-row, x-welcome button");
  await page.evaluate((to) => {
    location.hash = to;
  }, hash);
  return page;
}

const sessionHash = (name: string) => `#/s/${stage.ids.get(name)}`;
const boxesOf = (page: Page, selector: string) =>
  page.$$eval(selector, (all) =>
    all
      .filter((one) => one.checkVisibility())
      .map((one) => {
        const { width, height } = one.getBoundingClientRect();
        return { what: one.className.toString() || one.tagName, width, height };
      }),
  );

describe("the pictures in docs/images", () => {
  test("show the current UIs; `npm run screenshots` takes new ones", () => {
    expect(JSON.parse(readFileSync(LIST, "utf8"))).toEqual(takenFrom());
  });

  test.each([
    ["dashboard-light.png", 1280, 800],
    ["dashboard-dark.png", 1280, 800],
    ["dashboard-phone.png", 390, 844],
    ["usage-light.png", 1280, 800],
  ])("%s is a picture of %i by %i, and small", (name, width, height) => {
    const bytes = readFileSync(join(PICTURES, name));
    expect(bytes.subarray(1, 4).toString()).toBe("PNG");
    expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).toEqual([width, height]);
    expect(statSync(join(PICTURES, name)).size).toBeLessThanOrEqual(MAX_BYTES);
  });
});

describe.skipIf(!hasBrowser)("in Chromium", () => {
  test.each([
    ["a window", {}],
    ["a phone", PHONE],
    ["a tablet", TABLET],
    ["a window zoomed to 200 %", ZOOMED],
  ])("in %s the request is visible, with accept and decline beside each other", async (_where, how) => {
    const page = await look(how, sessionHash("totals"));
    await page.waitForSelector(".card.is-waiting [data-decision=accept]:enabled");
    const [accept, decline] = await page.$$eval(
      "[data-decision=accept], .choice-row [data-decision=decline]",
      (all) =>
        all.map((one) => {
          const { x, y, width, height } = one.getBoundingClientRect();
          const hit = document.elementFromPoint(x + width / 2, y + height - 2);
          return { y, width, height, isSeen: one.contains(hit) };
        }),
    );
    expect([accept?.isSeen, decline?.isSeen]).toEqual([true, true]);
    expect(Math.abs((accept?.y ?? 0) - (decline?.y ?? 99))).toBeLessThanOrEqual(8);
    expect(accept?.height).toBe(decline?.height);
    const command = page.locator(".card-section[data-form=command] .exact");
    const box = await command.boundingBox();
    expect((box?.y ?? 9_999) + (box?.height ?? 0)).toBeLessThanOrEqual((accept?.y ?? 0) + 1);
    // None of it is squeezed into a column of single letters.
    const notes = await boxesOf(page, ".choice-notes .card-value");
    expect(notes.filter(({ height }) => height > 60)).toEqual([]);
  });

  test("the button that jumps to the end of the feed covers no choice", async () => {
    const page = await look({}, sessionHash("totals"));
    await page.waitForSelector(".card.is-waiting [data-decision=accept]:enabled");
    await page.$eval(".feed", (feed) => feed.scrollTo(0, 0));
    const below = await page.locator(".below").boundingBox();
    const feed = await page.locator(".feed").boundingBox();
    const bottom = (box: typeof below): number => (box?.y ?? Number.NaN) + (box?.height ?? Number.NaN);
    expect(below?.y).toBeGreaterThanOrEqual(feed?.y ?? Number.NaN);
    expect(bottom(below)).toBeLessThanOrEqual(bottom(feed));
  });

  test("every touch target on a phone is at least 44 px", async () => {
    const page = await look(PHONE);
    const small = async (selector: string) =>
      (await boxesOf(page, selector)).filter(({ width, height }) => width < 44 || height < 44);
    expect(
      await small(".fleet-fold, .fleet-row, .topbar :is(a, button), .fleet-head :is(a, button, input)"),
    ).toEqual([]);
    await page.evaluate((to) => {
      location.hash = to;
    }, sessionHash("documents"));
    await page.waitForSelector(".card.is-waiting .option");
    expect(
      await small(".choice, .option, .composer :is(button:not(.link-button), textarea), .action"),
    ).toEqual([]);
  });

  test("on a phone the arrow folds a family, and the row beside it opens the session", async () => {
    const page = await look(PHONE);
    await page.tap(".fleet-fold");
    await page.waitForSelector("text=+3");
    expect(await page.locator(".fleet-row:has-text('totals')").count()).toBe(0);
    await page.tap(".fleet-row:has-text('checkout') .fleet-name .cut");
    await page.waitForSelector("h1:has-text('checkout')");
  });

  test("the list and the head of a session use the same name for a state; its card shows the request", async () => {
    for (const [name, words, asks] of [
      ["totals", "needs approval", /^totals \(claude\) in \S+ asks to (?:run a command|edit a file)$/],
      ["documents", "has a question", /^documents \(\w+\) in \S+ asks a question$/],
    ] as const) {
      const page = await look({}, sessionHash(name));
      await page.waitForSelector(".card.is-waiting");
      expect(await page.innerText(`.fleet-row.is-chosen .badge`)).toBe(words);
      expect(await page.innerText('[data-fact="state"] dd')).toBe(words);
      expect(await page.innerText(".card-title")).toMatch(asks);
    }
  });

  test("usage adds up to the sessions' own figures, and a pending question has no latency", async () => {
    const page = await look({}, "#/stats");
    await page.waitForSelector(".tile");
    const tiles = Object.fromEntries(
      await page.$$eval(".tile", (all) =>
        all.map((one) => [one.querySelector("dt")?.textContent, one.querySelector("dd")?.textContent]),
      ),
    );
    const { sessions } = JSON.parse(await stage.http.ask("GET", "/sessions")) as { sessions: SessionView[] };
    const sum = (of: (session: SessionView) => number | undefined) =>
      sessions.reduce((total, session) => total + (of(session) ?? 0), 0);
    expect(tiles).toMatchObject({
      Cost: `$${sum(({ cost_usd }) => cost_usd).toFixed(2)}`,
      "Tokens in": `${Math.round(sum(({ usage }) => usage.input_tokens) / 1_000)}k`,
      "Waited for you": "5",
    });
    const cells = await page.$$eval("tr:has-text('AskUserQuestion') td", (all) =>
      all.map((one) => one.textContent),
    );
    expect(cells.slice(0, 3).map((text) => text?.trim())).toEqual(["1", "", ""]);
  });

  test("hover controls beside an entry cover none of its text", async () => {
    const page = await look({}, sessionHash("search"));
    await page.waitForSelector(".entry[data-kind=result]");
    for (const kind of ["text", "tool", "user", "request"]) {
      const entry = page.locator(`.entry[data-kind=${kind}]`).first();
      await entry.hover();
      const covered = await entry.evaluate((one) => {
        const actions = one.querySelector(".entry-actions");
        const above = actions?.getBoundingClientRect();
        const words = document.createTreeWalker(one, NodeFilter.SHOW_TEXT);
        const hits: string[] = [];
        for (let text = words.nextNode(); text !== null; text = words.nextNode()) {
          const range = document.createRange();
          range.selectNodeContents(text);
          const isHit = [...range.getClientRects()].some(
            (box) =>
              above !== undefined &&
              Math.min(box.right, above.right) - Math.max(box.left, above.left) > 1 &&
              Math.min(box.bottom, above.bottom) - Math.max(box.top, above.top) > 1,
          );
          if (isHit && !actions?.contains(text) && text.textContent?.trim()) hits.push(text.textContent);
        }
        return hits;
      });
      expect([kind, covered]).toEqual([kind, []]);
    }
  });

  test.each(["#/", "#/new", "#/stats", "#/help", "session"])(
    "on %s every control has a name, there is one first-level heading, and no key is trapped",
    async (where) => {
      const page = await look({}, where === "session" ? sessionHash("documents") : where);
      await page.waitForSelector(where === "session" ? ".card.is-waiting .option" : "h1");
      const nameless = await page.$$eval(
        "a, button, input, textarea, select, [role=tree], [role=log]",
        (all) =>
          all
            .filter((one) => one.checkVisibility() && one.getAttribute("aria-hidden") !== "true")
            .filter((one) => {
              const labels =
                one instanceof HTMLInputElement ||
                one instanceof HTMLTextAreaElement ||
                one instanceof HTMLSelectElement
                  ? [...(one.labels ?? [])]
                  : [];
              const said = [
                one.getAttribute("aria-label"),
                one.textContent,
                ...labels.map((label) => label.textContent),
              ];
              return said.every((text) => (text ?? "").trim() === "");
            })
            .map((one) => one.outerHTML.slice(0, 80)),
      );
      expect(nameless).toEqual([]);
      expect(await page.locator("h1").filter({ visible: true }).count()).toBe(1);
      // All the way round by Tab: back at the beginning, never stuck.
      const seen = new Set<string>();
      for (let step = 0; step < 80; step++) {
        await page.keyboard.press("Tab");
        const at = await page.evaluate(() => {
          const one = document.activeElement;
          return one === document.body
            ? ""
            : [...document.querySelectorAll("*")].indexOf(one as Element).toString();
        });
        if (at === "" || seen.has(at)) break;
        seen.add(at);
      }
      expect(seen.size).toBeGreaterThan(4);
      expect(seen.size).toBeLessThan(80);
    },
  );
});

describe.skipIf(!hasBrowser)("a new user", () => {
  test("gets from the first page to an answered request by following its text", async () => {
    const empty = await openStage([]);
    try {
      const page = await look({}, "#/", empty);
      await page.getByRole("button", { name: "Try the demo" }).click();
      await page.waitForSelector(".card.is-waiting");
      expect(await page.innerText(".card.is-waiting")).toContain("rm -rf build");
      await page.getByRole("button", { name: "Accept", exact: false }).first().click();
      await page.waitForSelector("text=It was allowed");
      await page.getByRole("link", { name: "Usage" }).first().click();
      await page.waitForSelector(".tile");
      // All of it was just now: the last hour is shown, not a day with a line at its end.
      expect(await page.getAttribute(".segments button:has-text('Hour')", "aria-pressed")).toBe("true");
    } finally {
      await empty.close();
    }
  });

  test("sees at the field what is wrong with a directory", async () => {
    const page = await look({}, "#/new");
    await page.fill("#spawn-cwd", "/nonexistent/directory");
    await page.getByRole("button", { name: "Start" }).click();
    await page.waitForSelector("#spawn-cwd[aria-invalid=true]:focus");
    expect(await page.innerText("#spawn-cwd-note")).toContain("does not exist");
  });
});
