// The examples, run as a reader would run them, against the built daemon and its demo agent.
import { spawn, spawnSync } from "node:child_process";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DaemonProcess, isBuilt } from "./daemon-process.ts";

let daemon: DaemonProcess;

/** What the example says it needs. */
const hasCurlAndJq = ["curl", "jq"].every((name) => spawnSync(name, ["--version"]).status === 0);

function run(command: string, args: string[]): Promise<{ code: number | null; output: string }> {
  return new Promise((done) => {
    const child = spawn(command, args, { env: daemon.env });
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
  const outfile = join(daemon.home, `${name}.mjs`);
  const alias = { "blemees/client": resolve("src/client/index.ts") };
  const entryPoints = [`examples/${name}.ts`];
  await build({ entryPoints, outfile, alias, bundle: true, platform: "node", format: "esm" });
  return run(process.execPath, [outfile, ...args]);
}

describe.runIf(isBuilt)("examples", () => {
  beforeAll(async () => {
    daemon = await DaemonProcess.start();
  });
  afterAll(() => daemon.stop());

  test("one-turn.ts prints a streamed answer, the tool call and the result", async () => {
    const { code, output } = await runExample("one-turn", "use a tool");
    expect(output).toMatch(/\[tool\] .*\[success\]/s);
    expect(code).toBe(0);
  });

  test("watch-and-replay.ts misses nothing across a cut connection", async () => {
    const { code, output } = await runExample("watch-and-replay");
    expect(output).toMatch(/cut after event 3\nsaw (\d+) of \1 events, no gap, no duplicate\n/);
    expect(code).toBe(0);
  });

  test("approvals.ts answers the agent's requests, and the turn continues", async () => {
    const { code, output } = await runExample("approvals");
    expect(output).toMatch(
      /\[asked\] demo_shell: rm -rf build\n\[resolved\] \{"decision":"decline",.*It was declined: "only reading is allowed here"\..*\[success\]/s,
    );
    expect(code).toBe(0);
  });

  test("manager-and-children.ts waits for its workers, answers their requests, and leaves nothing", async () => {
    const { code, output } = await runExample("manager-and-children");
    expect(output).toMatch(
      /^\[worker-1\] success: The demo clock says .*\n\[asked\] demo_shell: rm -rf build\n\[worker-2\] success: It was allowed.*\nlead: idle, 0 turn.*\n {2}worker-1: idle, 1 turn.*\n {2}worker-2: idle, 1 turn.*\nremoved 3 sessions\n$/,
    );
    expect(code).toBe(0);
  });

  test.runIf(hasCurlAndJq)(
    "approve-from-http.sh answers an agent's request with nothing but curl and jq",
    async () => {
      const { code, output } = await run("bash", ["examples/approve-from-http.sh"]);
      expect(output).toBe(
        [
          "blocked: waiting_permission",
          "asked: rm -rf build",
          "refused: pending_structured_request",
          "answered: accept",
          "success: It was allowed, so I pretended to run `rm -rf build`.",
          "deleted: 1",
          "",
        ].join("\n"),
      );
      expect(code).toBe(0);
    },
  );

  test("raw-socket.sh speaks the protocol with nothing but a shell", async () => {
    const { code, output } = await run("bash", ["examples/raw-socket.sh", "hello"]);
    expect(output).toMatch(/hello_ack.*blemeesd\.opened.*agent\.result.*blemeesd\.closed/s);
    expect(code).toBe(0);
  });
});
