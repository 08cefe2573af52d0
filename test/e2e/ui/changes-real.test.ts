// Changes of a real repository, in Chromium and in a terminal: what the agent's shell did in each turn, a comment that
// becomes the next turn, and undo.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { ROOT } from "../../support/root.ts";
import { TmuxTerminal, tmuxVersion } from "../../support/tmux.ts";
import { findBrowser } from "./browser.ts";
import { Dashboard, goTo, say, shows, stateIs, waitsFor } from "./dashboard.ts";

const hasBrowser = findBrowser() !== undefined;
const hasTmux = tmuxVersion() !== undefined;
const PICTURES = process.env["BLEMEES_TEST_PICTURES"];

const TOTAL = `import { sum } from "./sum.ts";

/** The total. */
export function total(cart: Cart): number {
  return sum(cart.items) - cart.discount;
}
`;
/** The agent's first turn: an edit, a new file, a binary one, one whose name is markup. */
const FIRST = [
  "sed -i 's/return sum(cart.items) - cart.discount/return Math.max(0, sum(cart.items) - cart.discount)/' src/total.ts",
  "printf 'export const sum = 1;\\n' > src/sum.ts",
  "head -c 3000 /dev/zero > logo.png",
  "printf 'x\\n' > '<b>bold.txt'",
].join(" && ");
const SECOND = "sed -i 's/The total/The total, never below zero/' src/total.ts && rm notes.md";

let dashboard: Dashboard;
let repository: string;
const terminals: TmuxTerminal[] = [];

beforeAll(async () => {
  if (!hasBrowser) return;
  repository = realpathSync(mkdtempSync(join(tmpdir(), "blemees-repository-")));
  mkdirSync(join(repository, "src"));
  writeFileSync(join(repository, "src/total.ts"), TOTAL);
  writeFileSync(join(repository, "notes.md"), "to do\n");
  git("init", "-q");
  git("add", "-A");
  git("-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "start");
  dashboard = await Dashboard.start();
});
afterEach(() => {
  for (const terminal of terminals.splice(0)) terminal.close();
  return dashboard?.chromium.closeWindows();
});
afterAll(async () => {
  await dashboard?.close();
  if (repository !== undefined) rmSync(repository, { recursive: true, force: true });
});

function git(...args: string[]): string {
  return execFileSync("git", args, { cwd: repository, encoding: "utf8" });
}

function tui(session_id: string, columns: number, rows: number): TmuxTerminal {
  const { home } = dashboard.daemon;
  const terminal = new TmuxTerminal({
    command: [process.execPath, join(ROOT, "dist/sm.js"), "tui", session_id],
    env: { HOME: home, XDG_RUNTIME_DIR: join(home, "run"), BLEMEES_SOCKET: dashboard.daemon.socket },
    cwd: repository,
    columns,
    rows,
  });
  terminals.push(terminal);
  return terminal;
}

function keep(terminal: TmuxTerminal, name: string): void {
  if (PICTURES === undefined) return;
  mkdirSync(PICTURES, { recursive: true });
  writeFileSync(join(PICTURES, `${name}.ansi`), terminal.styled());
}

describe.skipIf(!hasBrowser)("changes of a real repository", () => {
  test("each turn shows what it did; a comment becomes the next turn; undo restores the files", async () => {
    const { session } = await dashboard.http.spawn({ backend: "claude", name: "fixer", cwd: repository });
    const id = session.session_id;
    const window = await dashboard.chromium.open({ reducedMotion: "reduce" });
    const { page } = window;
    await page.goto(await dashboard.link());
    await goTo(page, id);
    await say(page, `#tool ${FIRST}`);
    await waitsFor(async () => expect(await page.innerText(".tab-count")).toBe("4"));
    await say(page, `#tool ${SECOND}`);
    await waitsFor(async () => expect(await page.innerText(".tab-count")).toBe("5"));

    await page.keyboard.press("Escape");
    await page.keyboard.press("c");
    await page.waitForSelector(".changed-head");
    const heads = (await page.locator(".changed-head").allInnerTexts()).map((text) =>
      text.replace(/\s+/g, " "),
    );
    expect(heads).toEqual([
      "added <b>bold.txt turn 1 +1 −0",
      "added logo.png binary, 3.0 kB turn 1",
      "deleted notes.md turn 2 +0 −1",
      "added src/sum.ts turn 1 +1 −0",
      "modified src/total.ts turns 1, 2 +2 −2",
    ]);
    await page.waitForSelector('[data-key="src/total.ts"] .line-word:has-text("never below zero")');
    if (PICTURES !== undefined) await page.screenshot({ path: join(PICTURES, "real-light.png") });

    await page.selectOption("#changes-turn", "2");
    await waitsFor(async () => expect(await page.locator(".changed-head").count()).toBe(2));
    await page.selectOption("#changes-turn", "");

    await page.click('[data-key="src/total.ts"] .change-line[data-op="add"] .line-no >> nth=0');
    await page.keyboard.type("#tool printf 'done\\n' > answer.txt");
    await page.keyboard.press("Control+Enter");
    await page.click('.comments-bar button:has-text("Send")');
    await page.waitForSelector('[data-key="answer.txt"]');
    expect(await page.innerText(".tab-count")).toBe("6");

    await page.selectOption("#changes-turn", "2");
    await page.click('button:has-text("Undo turn 2…")');
    await page.waitForSelector(".dialog");
    const question = await page.innerText(".dialog-text");
    for (const line of ["create again notes.md", "delete answer.txt", "restore src/total.ts"])
      expect(question).toContain(`• ${line}`);
    await page.click('.dialog-actions button:has-text("Undo 3 files")');
    await page.waitForSelector('.toast:has-text("Undid turn 2")');
    expect(readFileSync(join(repository, "notes.md"), "utf8")).toBe("to do\n");
    expect(readFileSync(join(repository, "src/total.ts"), "utf8")).toContain("/** The total. */");
    expect(readFileSync(join(repository, "src/total.ts"), "utf8")).toContain("Math.max");
    // Claude forgot the turn, and was started again.
    await stateIs(page, "idle");
  });

  test.skipIf(!hasTmux).each([
    [80, 24],
    [120, 40],
  ])("the terminal UI shows the same, at %ix%i", async (columns, rows) => {
    const { sessions } = await dashboard.http.sessionsPage({ limit: 1 });
    const terminal = tui(sessions[0]?.session_id ?? "", columns, rows);
    await terminal.until("F4 changes");
    terminal.press("F4");
    await terminal.until("all turns");
    await terminal.until("turns 1, 2");
    keep(terminal, `tui-list-${columns}`);
    terminal.press("End", "Enter");
    await terminal.until("Math.max");
    keep(terminal, `tui-file-${columns}`);
    terminal.press("Escape");
    await terminal.until("all turns");
    terminal.press("t");
    await terminal.until("turn 1: 4 files");
    terminal.press("Escape");
    await terminal.until("─ chat ─");
  });

  test("outside a repository the tab says so", async () => {
    const directory = mkdtempSync(join(tmpdir(), "blemees-plain-"));
    try {
      const { session } = await dashboard.http.spawn({ backend: "claude", cwd: directory });
      await dashboard.http.input(session.session_id, { text: "#say ready" });
      const { page } = await dashboard.look(session.session_id);
      await shows(page, "ready");
      await page.click('.session-tab:has-text("Changes")');
      await page.waitForSelector(".changes-files .empty");
      expect(await page.innerText(".changes-files .empty")).toMatch(/repository/);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });
});
