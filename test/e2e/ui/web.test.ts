// The dashboard in Chromium: the real claude and the real codex under the real daemon, on scripted models; two tabs and
// a terminal on one session.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { PATIENT } from "../../support/patience.ts";
import { TmuxTerminal } from "../../support/tmux.ts";
import { Machine } from "../manager/machine.ts";
import { Chromium, findBrowser, type Window } from "./browser.ts";
import { feedText, goTo, say, shows, stateIs, waitsFor } from "./dashboard.ts";

const hasBrowser = findBrowser() !== undefined;

let machine: Machine;
let chromium: Chromium;
let terminals: TmuxTerminal[] = [];

beforeAll(async () => {
  machine = await Machine.create();
  if (hasBrowser) chromium = await Chromium.start();
});
afterEach(async () => {
  await chromium?.closeWindows();
  for (const terminal of terminals) terminal.close();
  terminals = [];
});
afterAll(async () => {
  if (hasBrowser) await chromium.close();
  await machine.close();
});

const has = (file: string) => existsSync(join(machine.cwd, file));
const link = async (): Promise<string> => (await machine.json<{ url: string }>("web", "--port", "0")).url;

/** A window opened with its own link, on this session. */
async function look(session_id: string): Promise<Window> {
  const window = await chromium.open();
  await window.page.goto(await link());
  await goTo(window.page, session_id);
  return window;
}

const AGENTS = [
  { agent: "claude", run: (command: string) => `#mock:bash ${command}`, takesReason: true },
  { agent: "codex", run: (command: string) => `#mock:escalate ${command}`, takesReason: false },
];

describe.skipIf(!hasBrowser)("in Chromium", () => {
  test.each(AGENTS)(
    "$agent: a message streams in, a request is approved, one declined, a turn interrupted, a message queued",
    async ({ agent, run, takesReason }) => {
      const id = await machine.spawn(agent, `${agent}-web`, "#mock:text ready");
      const { page } = await look(id);
      await shows(page, "ready");
      await say(page, "#mock:slow 60 50");
      await shows(page, /tick2\b/);
      expect(await feedText(page)).not.toContain("tick59");
      await shows(page, "tick59");

      await say(page, run(`mkdir web-${agent}`));
      await page.waitForSelector(".card.is-waiting");
      expect(await page.innerText(".card.is-waiting")).toContain(`mkdir web-${agent}`);
      expect(has(`web-${agent}`)).toBe(false);
      await page.click('.card.is-waiting [data-decision="accept"]');
      await shows(page, "tool said");
      expect(has(`web-${agent}`)).toBe(true);
      await stateIs(page, "idle");

      await say(page, run(`touch web-never-${agent}`));
      await page.click('.card.is-waiting [data-decision="decline"]');
      if (takesReason) {
        await page.fill(".card-decline textarea", "not in this directory");
        await page.click('.card-decline [data-decision="decline"]');
      }
      await stateIs(page, "idle");
      expect(has(`web-never-${agent}`)).toBe(false);
      if (takesReason)
        expect(JSON.stringify(machine.anthropic.requests.at(-1))).toContain("not in this directory");

      await say(page, "#mock:slow 600 100");
      await shows(page, /tick2\b(?![\s\S]*tick59)/);
      await say(page, "#mock:text from the queue");
      await page.click("text=Interrupt");
      await shows(page, /interrupted/i);
      await shows(page, /from the queue[\s\S]*from the queue/);
    },
  );

  test("a question is answered in a form", async () => {
    const id = await machine.spawn("codex", "asks-web", "#mock:ask Which colour?");
    const { page } = await look(id);
    await page.waitForSelector("fieldset.question");
    await page.click("label.option:has-text('Blue')");
    await page.click('.card.is-waiting [data-decision="accept"]');
    await shows(page, '{"answers":["Blue"]}');
  });

  test("two tabs and a terminal on one session stay in step, whichever answers", async () => {
    const id = await machine.spawn("claude", "shared", "#mock:text ready");
    const [one, two] = [await look(id), await look(id)];
    const terminal = new TmuxTerminal({ command: ["sm", "tui", id], env: machine.env, cwd: machine.cwd });
    terminals.push(terminal);
    await terminal.until("idle");
    await say(one.page, "#mock:bash mkdir answered-in-two");
    for (const { page } of [one, two]) await page.waitForSelector(".card.is-waiting");
    await terminal.until("needs approval");
    await two.page.click('.card.is-waiting [data-decision="accept"]');
    for (const { page } of [one, two]) {
      await shows(page, "tool said");
      expect(await page.locator(".card.is-waiting").count()).toBe(0);
    }
    await terminal.until("tool said");
    await terminal.until("idle");
    expect(has("answered-in-two")).toBe(true);

    // Keys right after a request went away are not taken.
    await vi.waitFor(
      () => {
        if (!/^> #$/m.test(terminal.screen())) terminal.type("#");
        expect(terminal.screen()).toMatch(/^> #$/m);
      },
      { ...PATIENT, interval: 1_000 },
    );
    terminal.type("mock:bash mkdir answered-in-terminal");
    await terminal.until("> #mock:bash mkdir answered-in-terminal");
    terminal.press("Enter");
    for (const { page } of [one, two]) await page.waitForSelector(".card.is-waiting");
    await terminal.until("─ approval ·");
    // A key right after it opened by itself is not taken.
    terminal.press("Escape");
    await terminal.until("─ chat (disabled");
    terminal.press("C-n");
    await terminal.until("─ approval ·");
    terminal.press("y");
    for (const { page } of [one, two]) {
      await shows(page, /mkdir answered-in-terminal[\s\S]*tool said/);
      await vi.waitFor(async () => expect(await page.locator(".card.is-waiting").count()).toBe(0), PATIENT);
    }
    expect(has("answered-in-terminal")).toBe(true);
    for (const { page } of [one, two]) await stateIs(page, "idle");
    // Times of events, and so the duration of a tool, are measured on arrival: they differ a little.
    const plain = async ({ page }: Window) =>
      (await feedText(page)).replace(/^(\d+(\.\d)?m?s|\d\d:\d\d [AP]M)$/gm, "");
    await waitsFor(async () => expect(await plain(one)).toBe(await plain(two)));
  });

  test("after a crash and restart of the daemon the page reconnects: nothing twice, nothing lost, the draft kept", async () => {
    const id = await machine.spawn("codex", "web-survivor", "#mock:text before the crash");
    const { page } = await look(id);
    await shows(page, "before the crash");
    await page.fill(".composer-text", "a draft");
    const port = new URL(page.url()).port;
    await machine.killDaemon();
    await page.waitForSelector(".banner");
    expect(await machine.say(id, "#mock:text after the crash")).toBe("after the crash\n");
    await machine.json("web", "--port", port);
    await shows(page, /^after the crash$/m);
    expect((await feedText(page)).match(/^before the crash$/gm)).toHaveLength(1);
    expect(await page.inputValue(".composer-text")).toBe("a draft");
    await vi.waitFor(async () => expect(await page.locator(".banner").count()).toBe(0), PATIENT);
  });

  test("a link works once; a second use shows what to do", async () => {
    const url = await link();
    const first = await chromium.open();
    await first.page.goto(url);
    await first.page.waitForSelector("x-fleet");
    expect(first.page.url()).not.toContain("token");
    const second = await chromium.open();
    await second.page.goto(url);
    await second.page.waitForSelector('.gate[role="alert"]');
    expect(await second.page.innerText(".gate")).toContain("blemees web");
  });
});
