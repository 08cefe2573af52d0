// Which UI `demian` starts: plain text without a terminal or on request; and what is asked before a screen.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { askTrust } from "../../../../src/cli/demian/trust-start.ts";
import { Output } from "../../../../src/cli/output.ts";
import { listTrustables } from "../../../../src/runtime/config/trustable.ts";
import { createRuntime } from "../../../../src/runtime/runtime.ts";
import { Screenplay } from "../in-process.ts";
import { memoryIo } from "../memory-io.ts";
import { plain } from "../pty.ts";
import { World } from "../world.ts";

const world = new World();
let terminal: Screenplay | undefined;

beforeEach(() => world.begin("http://127.0.0.1:9"));
afterEach(() => terminal?.kill());
afterAll(() => world.remove());

describe("plain text", () => {
  test.each([
    ["--plain", ["--plain"], {}],
    ["TERM=dumb", [], { TERM: "dumb" }],
    ["--quiet", ["--quiet"], {}],
  ])("%s", async (_name, args, env) => {
    terminal = new Screenplay(world, args, env, { program: "demian" });
    await terminal.until("provider [local, config]: ");
  });

  test("of demian-plain need no flag", async () => {
    terminal = new Screenplay(world, [], { TERM: "xterm" });
    await terminal.until("provider [local, config]: ");
  });
});

describe("before the screen", () => {
  async function ask(...answers: string[]): Promise<string> {
    const io = memoryIo({ isTTY: true, env: world.env, cwd: world.workspace });
    const order = { cwd: world.workspace, flags: {}, yes: false, dryRun: false };
    const output = new Output({ stdout: io.stdout, stderr: io.stderr, env: io.env });
    const asked = askTrust(order, {
      program: "demian",
      version: "1",
      io,
      output,
      isJson: false,
      daemonProgram: "",
      createRuntime,
    });
    let seen = 0;
    for (const answer of answers) {
      while (!plain(io.stderr.text).slice(seen).includes("not now: ")) {
        await new Promise((resolve) => io.changes.once("write", resolve));
      }
      seen = plain(io.stderr.text).length;
      io.stdin.write(`${answer}\r`);
    }
    await asked;
    return plain(io.stderr.text);
  }

  const states = async (): Promise<string[]> => {
    const { files } = await listTrustables({ cwd: world.workspace, env: world.env }, { userTools: false });
    return files.map(({ state }) => state);
  };

  beforeEach(() => {
    mkdirSync(join(world.workspace, ".demian/agents"), { recursive: true });
    const text =
      "---\ndescription: Tidies up.\nmode: primary\ntools:\n  visible: [read_file]\npermissions: []\n---\nYou tidy.\n";
    writeFileSync(join(world.workspace, ".demian/agents/tidy.md"), text);
  });

  test("a file without a decision is shown, and yes trusts exactly it", async () => {
    expect(await ask("y")).toContain("You tidy.");
    expect(await states()).toEqual(["trusted"]);
    expect(await ask()).toBe("");
  });

  test("Enter decides nothing, and the prompt is repeated", async () => {
    await ask("");
    expect(await states()).toEqual(["unknown"]);
    expect(await ask("")).toContain("You tidy.");
  });

  test("never is remembered", async () => {
    await ask("n");
    expect(await ask()).toBe("");
    expect(await states()).toEqual(["refused"]);
  });
});
