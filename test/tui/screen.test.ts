// The session's screen in a real terminal (tmux), driven by a scripted session.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { TmuxTerminal, tmuxVersion } from "../support/tmux.ts";
import { buildProgram } from "./support/build.ts";

const directory = mkdtempSync(join(tmpdir(), "screen-"));
let program = "";

beforeAll(async () => {
  program = await buildProgram("./scripted-program.ts", directory);
}, 60_000);
afterAll(() => rmSync(directory, { recursive: true }));

function open(env: Record<string, string> = {}, command?: readonly string[]): TmuxTerminal {
  return new TmuxTerminal({
    command: command ?? [process.execPath, program],
    env,
    cwd: directory,
  });
}

function childOf(pid: number): number {
  return Number(execFileSync("pgrep", ["-P", String(pid)], { encoding: "utf8" }).trim());
}

async function say(terminal: TmuxTerminal, text: string): Promise<void> {
  terminal.type(text);
  await terminal.until(`> ${text}`);
  terminal.press("Enter");
}

describe.skipIf(tmuxVersion() === undefined)(
  "the session's screen in a terminal",
  { timeout: 90_000 },
  () => {
    let terminal: TmuxTerminal;

    /** Shared by all tests; replaced after a failure, which leaves it in an unknown state. */
    let isSpoilt = true;

    beforeEach(async () => {
      if (!isSpoilt) return;
      terminal?.close();
      terminal = open();
      await terminal.until("─ chat ─");
      isSpoilt = false;
    }, 40_000);
    afterEach(({ task }) => {
      isSpoilt = task.result?.state === "fail";
    });
    afterAll(() => terminal?.close());

    test("sends a message and shows the answer", async () => {
      await say(terminal, "hello there");
      await terminal.until("you said hello there");
    });

    test("a request is decided by keys, and not by what is written in chat", async () => {
      await say(terminal, "ask rm -rf build");
      // It opens by itself; Esc leaves it.
      await terminal.until(/approval · request 1 of 1.*> 3 n Decline/s);
      terminal.press("Escape");
      await terminal.until("1 pending request: Ctrl-N to decide");
      terminal.type("yes");
      terminal.press("Enter");
      await terminal.until("not sent: a request is pending");
      terminal.press("C-u", "C-n");
      await terminal.until(/approval · request 1 of 1.*> 3 n Decline/s);
      terminal.press("y");
      await terminal.until('answered {"decision":"accept"}');
    });

    test("keys in the same burst as the key that opens a request do not answer it", async () => {
      await say(terminal, "ask npm test");
      await terminal.until("approval · request 1 of 1");
      terminal.press("Escape");
      await terminal.until("1 pending request");
      terminal.press("C-n", "c");
      expect(await terminal.until(/not on screen yet|"cancel"/)).not.toContain('"cancel"');
      terminal.press("Enter", "Enter");
      await terminal.until('answered {"decision":"decline"}');
    });

    test("a paste is shown short and sent whole", async () => {
      terminal.paste(Array.from({ length: 120 }, (_, at) => `pasted-${at}`).join("\n"));
      await terminal.until("[pasted 120 lines]");
      terminal.press("Enter");
      await terminal.until("pasted-119");
    });

    test("text that streams does not keep keys waiting, and Ctrl-C interrupts it", async () => {
      await say(terminal, "stream 500");
      // Whichever is in sight when we look.
      await terminal.until(/word([2-9]\d\d|\d{4,}) /);
      terminal.type("typed meanwhile");
      await terminal.until("> typed meanwhile");
      terminal.press("C-c");
      await terminal.until("interrupted");
      terminal.press("C-u");
      await terminal.untilGone("> typed meanwhile");
    });

    test("any size is survived, and the previous position is visible again", async () => {
      await say(terminal, "long");
      await terminal.until("line 60 of a long text");
      terminal.press("PageUp");
      const [, line] = /line (\d+) of/.exec(await terminal.until("↓ End")) ?? [];
      terminal.resize(20, 5);
      await terminal.until("chat>");
      terminal.resize(40, 12);
      await terminal.until("─ chat ─");
      terminal.resize(100, 30);
      await terminal.until(new RegExp(`line ${line} of a long text.*─ chat ─`, "s"));
      terminal.press("End");
      await terminal.until("line 60 of");
    });

    test("a lost connection is reported and the draft stays", async () => {
      await say(terminal, "lost");
      await terminal.until("connection lost, reconnecting");
      await say(terminal, "live");
      await terminal.untilGone("connection lost");
    });

    test("at the end the terminal is restored", async () => {
      await say(terminal, "/exit");
      expect(await terminal.ended()).toBe(0);
      expect(terminal.ask("#{alternate_on} #{wrap_flag}")).toBe("0 1");
    });
  },
);

describe.skipIf(tmuxVersion() === undefined)("ways out of the screen", { timeout: 90_000 }, () => {
  test("Ctrl-Z gives the terminal back, fg brings the screen with the draft, SIGTERM ends it", async () => {
    const terminal = open({ PS1: "% ", PROGRAM: program, NODE: process.execPath }, ["bash", "--norc", "-i"]);
    try {
      terminal.type("$NODE $PROGRAM; stty -a | grep -o -e '-\\?icanon'");
      terminal.press("Enter");
      await terminal.until("─ chat ─");
      await terminal.until("ready");
      terminal.type("a draft");
      await terminal.until("> a draft");
      terminal.press("C-z");
      await terminal.until(/Stopped.*icanon/s);
      expect(terminal.screen()).not.toContain("-icanon");
      expect(terminal.ask("#{alternate_on}")).toBe("0");
      terminal.type("fg");
      terminal.press("Enter");
      await terminal.until(/─ chat ─.*> a draft/s);
      process.kill(childOf(terminal.pid), "SIGTERM");
      await terminal.until("LEFT 143");
      expect(terminal.ask("#{alternate_on} #{cursor_flag}")).toBe("0 1");
    } finally {
      terminal.close();
    }
  });

  test("stopped by another it gives the terminal back as well", async () => {
    const terminal = open({ PS1: "% ", PROGRAM: program, NODE: process.execPath }, ["bash", "--norc", "-i"]);
    try {
      terminal.type("$NODE $PROGRAM");
      terminal.press("Enter");
      await terminal.until("ready");
      process.kill(childOf(terminal.pid), "SIGTSTP");
      await terminal.until("Stopped");
      expect(terminal.ask("#{alternate_on} #{mouse_any_flag}")).toBe("0 0");
      terminal.type("fg");
      terminal.press("Enter");
      await terminal.until("ready");
      expect(terminal.ask("#{alternate_on} #{mouse_any_flag}")).toBe("1 1");
    } finally {
      terminal.close();
    }
  });

  test("where no shell could continue it, Ctrl-Z leaves the screen where it is", async () => {
    const terminal = open();
    try {
      await terminal.until("ready");
      terminal.press("C-z");
      terminal.type("still here");
      await terminal.until("> still here");
      expect(terminal.ask("#{alternate_on}")).toBe("1");
    } finally {
      terminal.close();
    }
  });

  test("one Ctrl-C too many does not abort the shutdown", async () => {
    const terminal = open({}, [process.execPath, program, "--slow-close"]);
    try {
      await terminal.until("ready");
      terminal.press("C-c", "C-c");
      await vi.waitFor(() => expect(terminal.ask("#{alternate_on}")).toBe("0"), { timeout: 45_000 });
      terminal.press("C-c");
      expect(await terminal.ended()).toBe(0);
    } finally {
      terminal.close();
    }
  });

  test("without colors there are none, and SIGHUP ends it with its own code", async () => {
    const terminal = open({ NO_COLOR: "1" });
    try {
      await terminal.until("ready");
      await say(terminal, "tool");
      await terminal.until("Bash");
      expect(terminal.styled()).not.toContain("\u001b[");
      process.kill(terminal.pid, "SIGHUP");
      expect(await terminal.ended()).toBe(129);
      expect(terminal.ask("#{alternate_on} #{mouse_any_flag}")).toBe("0 0");
    } finally {
      terminal.close();
    }
  });
});
