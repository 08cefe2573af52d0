// Changes of a repository by the real claude and codex, in Chromium and in a terminal: an edit by a tool and one by the shell
// under their turns, a comment that becomes the next turn, and an undo that the agent takes part in.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { ROOT } from "../../support/root.ts";
import { TmuxTerminal, tmuxVersion } from "../../support/tmux.ts";
import { Machine } from "../manager/machine.ts";
import { Chromium, findBrowser } from "./browser.ts";
import { goTo, say, shows, stateIs, waitsFor } from "./dashboard.ts";

const hasBrowser = findBrowser() !== undefined;
const hasTmux = tmuxVersion() !== undefined;
const PICTURES = process.env["BLEMEES_TEST_PICTURES"];

let machine: Machine;
let chromium: Chromium;
const terminals: TmuxTerminal[] = [];

beforeAll(async () => {
  if (!hasBrowser) return;
  machine = await Machine.create();
  writeFileSync(join(machine.cwd, "kept.txt"), "kept\n");
  const git = (...args: string[]) => execFileSync("git", args, { cwd: machine.cwd, env: { ...machine.env } });
  git("init", "-q", "-b", "main");
  git("add", "-A");
  git("-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-q", "-m", "first");
  await machine.sm("all");
  chromium = await Chromium.start();
});
afterEach(() => {
  for (const terminal of terminals.splice(0)) terminal.close();
  return chromium?.closeWindows();
});
afterAll(async () => {
  await chromium?.close();
  await machine?.close();
});

const CASES = [
  {
    agent: "claude",
    options: { permission_mode: "bypassPermissions" },
    writes: (name: string) =>
      `#mock:tool Write ${JSON.stringify({ file_path: join(machine.cwd, name), content: "by a tool\n" })}`,
    runs: (command: string) => `#mock:bash ${command}`,
    last: () => JSON.stringify(machine.anthropic.requests.at(-1)),
  },
  {
    agent: "codex",
    options: { sandbox: "danger-full-access" },
    writes: (name: string) => `#mock:patch ${name} by a tool`,
    runs: (command: string) => `#mock:exec ${command}`,
    last: () => JSON.stringify(machine.responses.requests.at(-1)),
  },
];

async function picture(page: Page, name: string): Promise<void> {
  if (PICTURES === undefined) return;
  mkdirSync(PICTURES, { recursive: true });
  await page.screenshot({ path: join(PICTURES, `${name}.png`) });
}

describe.skipIf(!hasBrowser)("changes by the real agents", () => {
  test.each(CASES)("$agent: edits under their turns, a comment, a new turn, and an undo", async (of) => {
    const { agent } = of;
    const [byTool, byShell, byComment] = ["tool", "shell", "comment"].map((how) => `${agent}-${how}.txt`);
    const { session } = await machine.http.spawn({
      ...{ backend: agent, name: `${agent}-changes`, cwd: machine.cwd, approvals: false },
      options: of.options,
    });
    const id = session.session_id;
    const { page } = await chromium.open({ reducedMotion: "reduce" });
    await page.goto((await machine.http.webLink({ port: 0 })).url);
    await goTo(page, id);
    const count = (files: string) =>
      waitsFor(async () => expect(await page.innerText(".tab-count")).toBe(files));
    await say(page, of.writes(byTool ?? ""));
    await count("1");
    await stateIs(page, "idle");
    await say(page, of.runs(`echo by the shell > ${byShell}; echo more >> kept.txt`));
    await count("3");
    await stateIs(page, "idle");
    await page.keyboard.press("Escape");
    await page.keyboard.press("c");
    const heads = async () =>
      (await page.locator(".changed-head").allInnerTexts()).map((text) => text.replace(/\s+/g, " "));
    await waitsFor(async () =>
      expect(await heads()).toEqual([
        `added ${byShell} turn 2 +1 −0`,
        `added ${byTool} turn 1 +1 −0`,
        "modified kept.txt turn 2 +1 −0",
      ]),
    );
    // Also one that the agent runs but does not offer.
    const model = page.locator('.session-settings label:has(span:text-is("Model")) select');
    await waitsFor(async () =>
      expect(await model.inputValue()).toBe((await machine.http.settings(id)).model?.current),
    );
    await picture(page, `${agent}-light`);
    await page.emulateMedia({ colorScheme: "dark" });
    await picture(page, `${agent}-dark`);
    await page.emulateMedia({ colorScheme: "light" });

    await page.click('[data-key="kept.txt"] .change-line[data-op="add"] .line-no >> nth=0');
    await page.keyboard.type(of.runs(`echo by a comment > ${byComment}`));
    await page.keyboard.press("Control+Enter");
    await page.click('.comments-bar button:has-text("Send")');
    await page.waitForSelector(`[data-key="${byComment}"]`);
    await count("4");
    await page.selectOption("#changes-turn", "3");
    await waitsFor(async () => expect(await heads()).toEqual([`added ${byComment} +1 −0`]));
    await page.selectOption("#changes-turn", "base");
    await waitsFor(async () => expect(await page.innerText(".changes-base")).toBe("Since the session began"));
    await stateIs(page, "idle");

    await page.selectOption("#changes-turn", "2");
    await page.click('button:has-text("Undo turn 2…")');
    await page.waitForSelector(".dialog-option input:checked");
    await picture(page, `${agent}-undo`);
    await page.click('.dialog-actions button:has-text("Undo 3 files")');
    await page.waitForSelector('.toast:has-text("The agent has forgotten these turns too.")');
    expect([byTool, byShell, byComment].map((name) => existsSync(join(machine.cwd, name ?? "")))).toEqual([
      true,
      false,
      false,
    ]);
    await page.click('.session-tab:has-text("Conversation")');
    await shows(page, "the agent has forgotten turn 2 and later");
    await waitsFor(async () => expect(await page.locator(".entry.is-undone").count()).toBeGreaterThan(3));
    await picture(page, `${agent}-undone`);
    await page.setViewportSize({ width: 390, height: 844 });
    await picture(page, `${agent}-phone`);
    await page.setViewportSize({ width: 1280, height: 800 });
    await say(page, "and now #mock:text fine");
    await waitsFor(async () => expect(of.last().includes("and now")).toBe(true));
    expect(["by a tool", "by the shell", "by a comment"].filter((text) => of.last().includes(text))).toEqual([
      "by a tool",
    ]);
    await stateIs(page, "idle");
  });

  test.skipIf(!hasTmux).each(CASES)("$agent: the same in a terminal of 80×24", async ({ agent, runs }) => {
    const { sessions } = await machine.http.sessionsPage({ limit: 9 });
    const id = sessions.find(({ name }) => name === `${agent}-changes`)?.session_id ?? "";
    await machine.say(id, runs(`echo last > ${agent}-last.txt`));
    const terminal = new TmuxTerminal({
      command: [process.execPath, join(ROOT, "dist/sm.js"), "tui", id],
      env: { ...machine.env, BLEMEES_SOCKET: machine.socket },
      ...{ cwd: machine.cwd, columns: 80, rows: 24 },
    });
    terminals.push(terminal);
    await terminal.until("F4 changes");
    terminal.press("F4");
    await terminal.until(`${agent}-last.txt`);
    await terminal.until("turn 1");
    keep(terminal, `${agent}-list`);
    terminal.press("u");
    await terminal.until("y undo · f files only");
    await terminal.until("The agent forgets turn 5 and later too.");
    keep(terminal, `${agent}-question`);
    terminal.press("y");
    await terminal.until("The agent has forgotten these turns too.");
    keep(terminal, `${agent}-after`);
    expect(existsSync(join(machine.cwd, `${agent}-last.txt`))).toBe(false);
    terminal.press("Escape");
    await terminal.until("the agent has forgotten turn 5 and later");
    keep(terminal, `${agent}-chat`);
  });
});

function keep(terminal: TmuxTerminal, name: string): void {
  if (PICTURES === undefined) return;
  mkdirSync(PICTURES, { recursive: true });
  writeFileSync(join(PICTURES, `${name}.ansi`), terminal.styled());
}
