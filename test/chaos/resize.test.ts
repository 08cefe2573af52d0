// The session's screen while its terminal is resized continuously: it survives, and shows the same as before.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TmuxTerminal, tmuxVersion } from "../support/tmux.ts";
import { buildProgram } from "../tui/support/build.ts";

const directory = mkdtempSync(join(tmpdir(), "resize-"));
let program = "";

beforeAll(async () => {
  program = await buildProgram("./scripted-program.ts", directory);
});
afterAll(() => rmSync(directory, { recursive: true }));

test
  .skipIf(tmuxVersion() === undefined)
  .each([{ TERM: "xterm" }, { TERM: "linux" }, { TERM: "vt100", NO_COLOR: "1" }, { LANG: "C" }])(
  "survives a hundred resizes with %o",
  async (env) => {
    const terminal = new TmuxTerminal({
      command: [process.execPath, program],
      env: { ...env },
      cwd: directory,
    });
    try {
      await terminal.until("chat");
      terminal.type("hello there");
      await terminal.until("> hello there");
      for (let at = 0; at < 100; at++) terminal.resize(20 + ((at * 37) % 120), 4 + ((at * 13) % 40));
      terminal.resize(80, 24);
      const screen = await terminal.until("> hello there");
      expect(screen).not.toMatch(/^.{81,}$/m);
      terminal.press("Enter");
      await terminal.until("you said hello there");
    } finally {
      terminal.close();
    }
  },
);
