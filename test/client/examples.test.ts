// The examples, run as a reader would run them, against the built daemon and its demo agent.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect } from "../../src/client/index.ts";

const DAEMON = "dist/blemeesd.js";
let home: string;
let env: Record<string, string>;
let daemon: ChildProcess;

/** The daemon is ready when it answers. */
async function untilReady(socket: string): Promise<void> {
  for (;;) {
    const client = await connect({ socket }).catch(() => undefined);
    if (client !== undefined) return client.close();
    if (daemon.exitCode !== null) throw new Error("the daemon did not start");
    await new Promise((next) => setImmediate(next));
  }
}

function run(command: string, args: string[]): Promise<{ code: number | null; output: string }> {
  return new Promise((done) => {
    const child = spawn(command, args, { env });
    let output = "";
    const keep = (chunk: Buffer): void => {
      output += chunk.toString();
    };
    child.stdout.on("data", keep);
    child.stderr.on("data", keep);
    child.on("close", (code) => done({ code, output }));
  });
}

async function runExample(name: string, ...args: string[]): ReturnType<typeof run> {
  const outfile = join(home, `${name}.mjs`);
  const alias = { "blemees/client": resolve("src/client/index.ts") };
  await build({
    entryPoints: [`examples/${name}.ts`],
    outfile,
    alias,
    bundle: true,
    platform: "node",
    format: "esm",
  });
  return run(process.execPath, [outfile, ...args]);
}

describe.runIf(existsSync(DAEMON))("examples", () => {
  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), "bl-ex-"));
    const runtime = join(home, "run");
    mkdirSync(runtime, { mode: 0o700 });
    env = {
      PATH: process.env["PATH"] ?? "",
      HOME: home,
      XDG_RUNTIME_DIR: runtime,
      XDG_STATE_HOME: join(home, "state"),
      BLEMEESD_SHUTDOWN_GRACE: "0",
    };
    daemon = spawn(process.execPath, [DAEMON], { env, stdio: "ignore" });
    await untilReady(join(runtime, "blemeesd.sock"));
  });
  afterAll(async () => {
    const gone = new Promise((done) => daemon.once("exit", done));
    daemon.kill("SIGTERM");
    await gone;
    rmSync(home, { recursive: true, force: true });
  });

  test("one-turn.ts prints a streamed answer, the tool call and the result", async () => {
    const { code, output } = await runExample("one-turn", "use a tool");
    expect({ code, output }).toMatchObject({
      code: 0,
      output: expect.stringMatching(/\[tool\] .*\[success\]/s),
    });
  });

  test("watch-and-replay.ts misses nothing across a cut connection", async () => {
    const { code, output } = await runExample("watch-and-replay");
    expect(output).toMatch(/cut after event 3\nsaw (\d+) of \1 events, no gap, no duplicate\n/);
    expect(code).toBe(0);
  });

  test("raw-socket.sh speaks the protocol with nothing but a shell", async () => {
    const { code, output } = await run("bash", ["examples/raw-socket.sh", "hello"]);
    expect(output).toMatch(/hello_ack.*blemeesd\.opened.*agent\.result.*blemeesd\.closed/s);
    expect(code).toBe(0);
  });
});
