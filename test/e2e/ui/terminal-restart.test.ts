// The terminal UI and the CLI over restarts of the daemon: turns stream on, and requests stay and can be answered. Screens
// are kept below .e2e/screens.
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { HttpClient } from "../../../src/client/index.ts";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { PATIENT } from "../../support/patience.ts";
import { ROOT } from "../../support/root.ts";
import { TmuxTerminal, tmuxVersion } from "../../support/tmux.ts";
import { ALL_WORDS, ASKING_TURN, gatedTurn, RESTARTS, wordsIn } from "./restarts.ts";

if (tmuxVersion() === undefined && process.env["CI_REQUIRE_FACES"] === "1")
  throw new Error("CI_REQUIRE_FACES is set, and there is no tmux");

let daemon: TestDaemon;
const terminals: TmuxTerminal[] = [];

beforeAll(async () => {
  daemon = await startDaemon();
});
afterEach(() => {
  for (const terminal of terminals.splice(0)) terminal.close();
});
afterAll(() => daemon.close());

/** Runs sm in a terminal that is large enough for all words. */
function open(folder: string, args: readonly string[], columns = 100): TmuxTerminal {
  const terminal = new TmuxTerminal({
    command: [process.execPath, join(ROOT, "dist/sm.js"), ...args],
    env: { HOME: daemon.home, BLEMEESD_SOCKET: daemon.socket },
    cwd: daemon.home,
    columns,
    rows: 50,
    saveTo: join(ROOT, ".e2e/screens", folder.replaceAll(/\W+/g, "-")),
  });
  terminals.push(terminal);
  return terminal;
}

async function spawn(prompt?: string): Promise<string> {
  const { session } = await new HttpClient({ socket: daemon.socket }).spawn({
    backend: "claude",
    ...(prompt === undefined ? {} : { prompt }),
  });
  return session.session_id;
}

/** Every word is on the screen once and in order, and nothing about the connection. */
async function isWhole(terminal: TmuxTerminal): Promise<void> {
  await vi.waitFor(() => expect(wordsIn(terminal.screen())).toEqual(ALL_WORDS), PATIENT);
  await terminal.until("idle");
  await terminal.untilGone(/connect|✗|^! /m);
}

describe.skipIf(tmuxVersion() === undefined).each(RESTARTS)("$way, under a terminal", ({ way, restart }) => {
  test("a turn streams on: every word once and in order, the draft is kept", async () => {
    const turn = gatedTurn(daemon);
    const terminal = open(`restart ${way} streams`, ["tui", await spawn(turn.prompt)]);
    await terminal.until(/tick3\b/);
    terminal.type("a draft");
    await terminal.until("a draft");
    terminal.save("streaming");
    daemon = await restart(daemon, async () => terminal.save("down"));
    await terminal.until(/tick39\b/);
    terminal.save("after");
    turn.open();
    await isWhole(terminal);
    terminal.save("whole");
    expect(terminal.screen()).toContain("a draft");
  });

  test("a request stays, and is answered after it", async () => {
    const id = await spawn(ASKING_TURN);
    const terminal = open(`restart ${way} asks`, ["tui", id]);
    await terminal.until("needs approval");
    terminal.press("C-n");
    await terminal.until("─ approval ·");
    terminal.save("asked");
    daemon = await restart(daemon, async () => {
      expect(terminal.screen()).toContain("─ approval ·");
      terminal.save("down");
    });
    expect(terminal.screen()).toContain("─ approval ·");
    terminal.save("after");
    terminal.press("y");
    await isWhole(terminal);
    terminal.save("answered");
    expect(terminal.screen().match(/"behavior":"allow"/g)).toHaveLength(1);
    expect(
      await new HttpClient({ socket: daemon.socket }).allRequests({ session_id: id, include_settled: true }),
    ).toMatchObject([{ status: "resolved", resolution_source: "tui", answer: { decision: "accept" } }]);
  });

  test("`sm tail -f` prints every word once, and `sm wait` ends with the turn", async () => {
    const turn = gatedTurn(daemon);
    const http = new HttpClient({ socket: daemon.socket });
    const id = await spawn();
    // It is not wrapped at words.
    const tail = open(`restart ${way} tail`, ["tail", "-f", id], 400);
    await expect.poll(async () => (await http.status()).http.streams, PATIENT).toBe(1);
    await http.input(id, { text: turn.prompt });
    const wait = open(`restart ${way} wait`, ["wait", id]);
    // The two of sm, and the one that asks this.
    await expect.poll(async () => (await http.status()).http.connections, PATIENT).toBe(3);
    daemon = await restart(daemon);
    turn.open();
    expect(await wait.ended()).toBe(0);
    await vi.waitFor(() => expect(wordsIn(tail.screen())).toEqual(ALL_WORDS), PATIENT);
    wait.save("ended");
    tail.save("whole");
  });
});
