// The Changes tab in Chromium. The daemon is real; the changes are given here, so that a test can show files of any kind,
// hostile ones included. With a real repository: web-changes-real.test.ts.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Page, Route } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { ChangesReply, FileChangesReply, UndoBody } from "../../../src/protocol/changes.ts";
import { aFile, aFileReply, aHunk, aReply } from "../../client/view/changed-files.ts";
import { findBrowser } from "./browser.ts";
import { Dashboard, say, shows, stateIs, waitsFor } from "./dashboard.ts";

const hasBrowser = findBrowser() !== undefined;
/** Set it to a directory for pictures to look at. */
const PICTURES = process.env["BLEMEES_TEST_PICTURES"];
const EVIL = "a\u202egnp.exe<img src=x onerror=pwned=1>\u009b31m\n\"'.ts";

const CART = aHunk(
  [
    " import { sum } from './sum.ts';",
    " ",
    "-/** The total. */",
    "+/** The total, never below zero. */",
    " export function total(cart: Cart): number {",
    "-  return sum(cart.items) - cart.discount;",
    "+  const { items, discount } = cart;",
    "+  return Math.max(0, sum(items) - discount);",
    " }",
  ],
  12,
  "interface Cart",
);
const FILES: ChangesReply["files"] = [
  aFile("package-lock.json", { additions: 120, deletions: 80, generated: true }),
  { path: "public/logo.png", binary: true, bytes: 12_345, status: "added", turns: [2] },
  aFile("src/cart/total.ts", { additions: 3, deletions: 2, turns: [1, 2] }),
  aFile("src/cart/totals.test.ts", {
    old_path: "src/cart/test.ts",
    status: "renamed",
    additions: 0,
    deletions: 0,
  }),
  { path: "var/dump.sql", too_large: true, bytes: 212_000_000, status: "added", turns: [2] },
  { path: "vendor/money", submodule: true, status: "modified", turns: [2] },
];
const TURNS = [
  { turn: 1, turn_id: "t1", started_at_ms: 1, ended_at_ms: 2, files: 2, additions: 3, deletions: 2 },
  { turn: 2, turn_id: "t2", started_at_ms: 3, ended_at_ms: 4, files: 4, additions: 120, deletions: 80 },
  {
    turn: 3,
    turn_id: "t3",
    started_at_ms: 5,
    ended_at_ms: 6,
    files: 0,
    additions: 0,
    deletions: 0,
    skipped: "it took longer than 2 s",
  },
];

/** What the daemon answers about changes. */
class FakeChanges {
  reply: ChangesReply = aReply(FILES, { turns: TURNS, totals: { files: 6, additions: 123, deletions: 82 } });
  files = new Map<string, FileChangesReply>([
    ["src/cart/total.ts", aFileReply([CART], "src/cart/total.ts")],
    ["package-lock.json", aFileReply([aHunk(['-  "a": 1', '+  "a": 2'])], "package-lock.json")],
  ]);
  readonly asked: string[] = [];
  readonly undone: UndoBody[] = [];

  readonly handle = async (route: Route): Promise<void> => {
    const url = new URL(route.request().url());
    this.asked.push(url.pathname.replace(/^\/sessions\/[^/]*\//, "") + decodeURIComponent(url.search));
    await route.fulfill({ json: this.#answer(url, route) });
  };

  #answer(url: URL, route: Route): unknown {
    if (url.pathname.endsWith("/undo")) {
      const body = route.request().postDataJSON() as UndoBody;
      this.undone.push(body);
      const files = [{ path: "src/cart/total.ts", action: "restore" }];
      const conversation = { rewound: false, reason: "the agent cannot" };
      return { session_id: "s", turn: body.turn ?? 1, done: body.dry_run !== true, files, conversation };
    }
    const path = url.searchParams.get("path");
    if (path !== null) return this.files.get(path) ?? aFileReply([], path);
    const turn = Number(url.searchParams.get("turn") ?? 0);
    if (turn === 0) return this.reply;
    const files = this.reply.files.filter(({ turns }) => turns.includes(turn));
    return { ...this.reply, files, totals: { files: files.length, additions: 1, deletions: 1 } };
  }
}

let dashboard: Dashboard;
beforeAll(async () => {
  if (hasBrowser) dashboard = await Dashboard.start();
});
afterEach(() => dashboard?.chromium.closeWindows());
afterAll(async () => {
  await dashboard?.close();
});

async function open(fake: FakeChanges, options: object) {
  const id = await dashboard.spawn("#say ready");
  const window = await dashboard.chromium.open({ reducedMotion: "reduce", ...options });
  await window.context.route(/\/sessions\/[^/]*\/(changes|undo)/, fake.handle);
  const { page } = window;
  await page.goto(await dashboard.link());
  await page.waitForSelector("x-fleet");
  await page.evaluate((hash) => {
    location.hash = hash;
  }, `#/s/${id}`);
  await shows(page, "ready");
  return { id, page };
}

async function openChanges(fake: FakeChanges, options = {}) {
  const opened = await open(fake, options);
  await opened.page.click('.session-tab:has-text("Changes")');
  await opened.page.waitForSelector(".changes-files");
  return opened;
}

async function picture(page: Page, name: string): Promise<void> {
  if (PICTURES === undefined) return;
  mkdirSync(PICTURES, { recursive: true });
  await page.screenshot({ path: join(PICTURES, `${name}.png`) });
}

const head = (path: string): string => `.changed-file[data-key="${path}"] .changed-head`;
const lines = (path: string): string => `.changed-file[data-key="${path}"] .changed-lines`;
const TOTAL = "src/cart/total.ts";

describe.skipIf(!hasBrowser)("the Changes tab, in Chromium", () => {
  test("shows the number of changed files, each file's state, and opens short changes", async () => {
    const { page } = await openChanges(new FakeChanges());
    expect(await page.innerText(".tab-count")).toBe("6");
    await page.waitForSelector(`${lines(TOTAL)} .change-line`);
    const heads = await page.locator(".changed-head").allInnerTexts();
    expect(heads.map((text) => text.replace(/\s+/g, " "))).toEqual([
      "modified package-lock.json generated turn 1 +120 −80",
      "added public/logo.png binary, 12 kB turn 2",
      "modified src/cart/total.ts turns 1, 2 +3 −2",
      "renamed src/cart/test.ts → src/cart/totals.test.ts turn 1 +0 −0",
      "added var/dump.sql too large, 212 MB turn 2",
      "modified vendor/money nested repository turn 2",
    ]);
    expect(await page.getAttribute(head("package-lock.json"), "aria-expanded")).toBe("false");
    const whys = (await page.locator(".changed-why").allInnerTexts()).join("\n");
    for (const why of [
      "Binary file",
      "Renamed without changes",
      "larger than the checkpoint limit",
      "A repository of its own",
    ])
      expect(whys).toContain(why);
    expect(await page.locator(".line-word").allInnerTexts()).toContain(", never below zero");
    await picture(page, "changes-light");
    await page.emulateMedia({ colorScheme: "dark" });
    await picture(page, "changes-dark");
  });

  test("side by side, and back; the choice is kept", async () => {
    const { page } = await openChanges(new FakeChanges());
    await page.waitForSelector(`${lines(TOTAL)} .change-line`);
    await page.keyboard.press("s");
    await page.waitForSelector(".change-pair");
    expect(await page.locator(".change-pair .change-line.is-blank").count()).toBe(1);
    await picture(page, "changes-split-light");
    await page.emulateMedia({ colorScheme: "dark" });
    await picture(page, "changes-split-dark");
    await page.reload();
    await page.waitForSelector(".change-pair");
    await page.click('button:has-text("Unified")');
    await page.waitForSelector(".change-pair", { state: "detached" });
  });

  test("by turn; a turn without a checkpoint says why", async () => {
    const { page } = await openChanges(new FakeChanges());
    await page.keyboard.press("t");
    await waitsFor(async () => expect(await page.locator(".changed-head").count()).toBe(3));
    expect(await page.locator("#changes-turn option:checked").innerText()).toBe("Turn 1: 2 files +3 −2");
    expect(await page.innerText(".tab-count")).toBe("6");
    await page.selectOption("#changes-turn", "3");
    await page.waitForSelector(
      '.empty:has-text("The changes of turn 3 are unknown: it took longer than 2 s.")',
    );
    await page.keyboard.press("Shift+T");
  });

  test("comments on a line and a range become one message, after a preview; they survive a reload", async () => {
    const { page, id } = await openChanges(new FakeChanges());
    await page.click(`${lines(TOTAL)} .change-line[data-at="3"] .line-no`);
    await page.keyboard.type("Say why.");
    await page.keyboard.press("Control+Enter");
    // By keyboard: from the lines, which have the focus again.
    for (const key of ["ArrowDown", "ArrowDown", "ArrowDown", "Shift+ArrowDown", "m"])
      await page.keyboard.press(key);
    expect(await page.innerText(".comment-form .comment-place")).toBe("src/cart/total.ts, lines 16-17");
    await page.keyboard.type("Too clever.");
    await picture(page, "changes-comment-light");
    await page.click('button:has-text("Add comment")');
    await page.reload();
    await page.waitForSelector('.comments-bar:has-text("2 comments")');
    await page.keyboard.press("v");
    await picture(page, "changes-review-light");
    const message = [
      "2 comments on your changes:",
      "1. src/cart/total.ts, line 14\n> +/** The total, never below zero. */\nSay why, please.",
      "2. src/cart/total.ts, lines 16-17\n> +  const { items, discount } = cart;\n> +  return Math.max(0, sum(items) - discount);\nToo clever.",
    ].join("\n\n");
    await page.click(".comments-review .comment:first-child button:has-text('Edit')");
    await page.fill(".comment-text", "Say why, please.");
    await page.click('button:has-text("Save")');
    expect(await page.innerText(".comments-review .exact")).toBe(message);
    await page.click('.comments-bar button:has-text("Send")');
    await page.waitForSelector(".comments-bar", { state: "detached" });
    const { events } = await dashboard.http.events(id);
    const echoes = events.map(({ frame }) => frame as { type: string; message?: { content: unknown } });
    await waitsFor(async () => expect(JSON.stringify(echoes)).toContain("Too clever."));
  });

  test("while a turn runs comments are queued; one can be removed", async () => {
    const { page, id } = await openChanges(new FakeChanges());
    await dashboard.http.input(id, { text: "#slow 400 100" });
    await page.waitForSelector(`${lines(TOTAL)} .change-line`);
    for (const at of [3, 6]) {
      await page.click(`${lines(TOTAL)} .change-line[data-at="${at}"] .line-no`);
      await page.keyboard.type(`comment ${at}`);
      await page.keyboard.press("Control+Enter");
    }
    await page.click(".comment:has-text('comment 3') button:has-text('Remove')");
    await page.click('.comments-bar button:has-text("Queue")');
    await page.waitForSelector(".queued");
    const { queued } = await dashboard.http.queue(id);
    expect(JSON.stringify(queued)).toMatch(/comment 6/);
    expect(JSON.stringify(queued)).not.toMatch(/comment 3/);
  });

  test("the list is read again after a turn, and an open file whose change differs", async () => {
    const fake = new FakeChanges();
    const { page } = await openChanges(fake);
    await page.waitForSelector(`${lines(TOTAL)} .change-line`);
    await page.click('.session-tab:has-text("Conversation")');
    fake.reply = {
      ...fake.reply,
      files: [aFile(TOTAL, { additions: 9 })],
      totals: { files: 7, additions: 9, deletions: 1 },
    };
    fake.files.set(TOTAL, aFileReply([aHunk(["+brand new"])], TOTAL));
    await say(page, "#say again");
    await waitsFor(async () => expect(await page.innerText(".tab-count")).toBe("7"));
    await page.keyboard.press("Escape");
    await page.keyboard.press("c");
    await page.waitForSelector(`${lines(TOTAL)} .change-line:has-text("brand new")`);
  });

  test("undo shows what will change before anything does", async () => {
    const fake = new FakeChanges();
    const { page } = await openChanges(fake);
    await page.click('button:has-text("Undo turn 2…")');
    await page.waitForSelector(".dialog");
    expect(await page.innerText(".dialog-text")).toContain("• restore src/cart/total.ts");
    await picture(page, "changes-undo-light");
    await page.click('.dialog button:has-text("Cancel")');
    expect(fake.undone).toEqual([{ turn: 2, dry_run: true }]);
    await page.click('button:has-text("Undo turn 2…")');
    await page.click('.dialog button:has-text("Undo 1 file")');
    await page.waitForSelector('.toast:has-text("Undid turn 2")');
    expect(fake.undone.at(-1)).toEqual({ turn: 2 });
  });

  test("without changes the tab says why, and has no number", async () => {
    const fake = new FakeChanges();
    fake.reply = aReply([], {
      state: "none",
      reason: "/home/you is not in a git repository.",
      turns: [],
      totals: { files: 0, additions: 0, deletions: 0 },
    });
    const { page } = await openChanges(fake);
    await page.waitForSelector('.empty:has-text("/home/you is not in a git repository.")');
    expect(await page.locator(".tab-count").count()).toBe(0);
    await picture(page, "changes-none-light");
  });

  test("a long file is drawn in parts, and the list in pages", async () => {
    const fake = new FakeChanges();
    const many = Array.from({ length: 100 }, (_, at) => aFile(`src/file-${at}.ts`));
    fake.reply = { ...aReply(many), totals: { files: 250, additions: 1, deletions: 1 }, next: "x" };
    fake.files.set("src/file-0.ts", {
      ...aFileReply(
        [aHunk(Array.from({ length: 5_000 }, (_, at) => `+const a${at} = ${at};`))],
        "src/file-0.ts",
      ),
      truncated: true,
    });
    const { page } = await openChanges(fake);
    await page.click(head("src/file-0.ts"));
    await page.waitForSelector(`${lines("src/file-0.ts")} .change-line`);
    const count = () => page.locator(".change-line").count();
    expect(await count()).toBe(400);
    await page.click('button:has-text("Show 400 more of 4600 lines")');
    await waitsFor(async () => expect(await count()).toBe(800));
    await page.click('button:has-text("Show more of 250 files")');
    await waitsFor(async () => expect(fake.asked).toContain("changes?limit=100&after=x"));
  });

  test("hostile names and lines are only text", async () => {
    const fake = new FakeChanges();
    const file = aFile(EVIL, { old_path: EVIL, status: "renamed" });
    fake.reply = aReply([file], { not_covered: [{ path: EVIL, why: "unreadable" }] });
    fake.files.set(EVIL, {
      ...aFileReply([aHunk([`-${EVIL.replace("\n", "")}`, `+${EVIL.replace("\n", "")}2`], 1, EVIL)], EVIL),
      status: "renamed",
    });
    const { page } = await openChanges(fake);
    await page.waitForSelector(".change-line");
    await page.click('.change-line[data-at="1"] .line-no');
    await page.keyboard.type(EVIL.replace("\n", ""));
    await page.keyboard.press("Control+Enter");
    await page.keyboard.press("v");
    await page.waitForSelector(".comments-review");
    const text = await page.innerText(".main");
    expect(text).toContain("<img src=x onerror=pwned=1>");
    expect(text).not.toMatch(/[\u202e\u009b]/);
    expect(text).toContain("<U+202E>");
    expect(await page.evaluate(() => (globalThis as { pwned?: unknown }).pwned ?? null)).toBeNull();
    expect(await page.locator(".main img").count()).toBe(0);
    await picture(page, "changes-hostile-light");
  });

  test("on a phone", async () => {
    const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
    const { page } = await openChanges(new FakeChanges(), phone);
    await page.waitForSelector(`${lines(TOTAL)} .change-line`);
    await picture(page, "changes-phone");
    await page.tap(`${lines(TOTAL)} .change-line[data-at="6"] .line-no`);
    await page.tap('button:has-text("One more line")');
    expect(await page.innerText(".comment-form .comment-place")).toBe("src/cart/total.ts, lines 16-17");
    await page.fill(".comment-text", "x");
    await picture(page, "changes-phone-comment");
    const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    expect(wide).toBe(false);
    await stateIs(page, "idle");
  });
});
