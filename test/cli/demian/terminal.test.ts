// demian-plain at a real terminal, against a model on loopback.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { chatReply, type ModelServer, startModelServer, stuck } from "../../support/model-server.ts";
import { BuiltDemian } from "./built-demian.ts";
import { ASKED, acceptSettings, DONE, testEveryTerminal } from "./every-terminal.ts";
import { hasPty, type Pty } from "./pty.ts";
import { delegate, teamOf, write } from "./several-agents.ts";
import { World } from "./world.ts";

const world = new World();
const demian = new BuiltDemian(world);
let model: ModelServer;
let terminal: Pty | undefined;

afterAll(() => world.remove());
beforeEach(async () => {
  model = await startModelServer();
  world.begin(model.url);
});
afterEach(async () => {
  terminal?.kill();
  await model.close();
});

function open(args: string[] = [], stdoutFile?: string): Pty {
  terminal = demian.terminal(args, stdoutFile);
  return terminal;
}

describe.runIf(hasPty)("at a real terminal", () => {
  testEveryTerminal({ world, model: () => model, open });

  test("with the answer redirected, stdout is the answer alone and the rest stays on the screen", async () => {
    model.script(chatReply("Hello **there**."));
    const file = join(world.workspace, "out.md");
    const pty = open([], file);
    await acceptSettings(pty);
    pty.enter("hi");
    expect(await pty.until(DONE)).toContain("Hello **there**.");
    pty.type("\x04");
    await pty.ended;
    expect(readFileSync(file, "utf8")).toBe("Hello **there**.\n");
  });

  test("several agents: the sub-agent's start and actions are asked, and only the answer is on stdout", async () => {
    const other = await startModelServer(write("a.txt", "hello\n"), chatReply("SUB-AGENT WORDS"));
    try {
      world.begin(model.url, teamOf(other));
      model.script(delegate("write a.txt"), chatReply("It is **written**."));
      const file = join(world.workspace, "out.md");
      const pty = open([], file);
      await acceptSettings(pty);
      pty.enter("please write it");
      expect(await pty.until(ASKED)).toMatch(/Allow [^\n]*agent writer[\s\S]*write a\.txt/);
      expect(other.requests).toEqual([]);
      pty.enter("y");
      const second = await pty.until(ASKED);
      expect(second).toMatch(/● delegate_agent: writer[\s\S]*\n {2}▶ writer started \(elsewhere, tiny/);
      expect(second).toMatch(/Allow [^\n]*writer -> write_file: a\.txt/);
      expect(world.has("a.txt")).toBe(false);
      pty.enter("y");
      expect(await pty.until(DONE)).toMatch(
        /\n {2}writer ● write_file: a\.txt\n[\s\S]*\n {2}✓ writer done: 2 turns/,
      );
      pty.type("\x04");
      expect(await pty.ended).toBe(0);
      expect(pty.text).not.toContain("SUB-AGENT WORDS");
      expect(readFileSync(join(world.workspace, "a.txt"), "utf8")).toBe("hello\n");
      // Its text before it delegates goes to stderr.
      expect(readFileSync(file, "utf8")).toBe("It is **written**.\n");
    } finally {
      await other.close();
    }
  });

  test("Ctrl-C ends a single message with 130", async () => {
    model.script(stuck("let me think"));
    const pty = open(["think"]);
    await pty.until("think");
    pty.type("\x03");
    expect(await pty.ended).toBe(130);
  });
});
