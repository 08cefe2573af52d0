// What a command has of the process that started it: nothing that was open there, and no life after its death.
import { spawn } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildSync } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ROOT } from "../../support/root.ts";
import { asleep, isAsleep, whyNoSandbox } from "./ground.ts";

const reason = process.platform === "linux" ? await whyNoSandbox() : "the programs here are for Linux";
const root = realpathSync(mkdtempSync(join(tmpdir(), "demian-starter-")));
const program = join(root, "starter.mjs");

afterAll(() => rmSync(root, { recursive: true, force: true }));

if (reason !== undefined) test.skip(`commands were not held: ${reason}`, () => undefined);

/** Runs its argument in a sandbox and prints what it prints. */
const STARTER = `
  import { createSandbox } from "./src/runtime/sandbox/index.ts";
  const config = { mode: "workspace-write", network: "inherit", allowEnvOnly: false, writableGit: false };
  const root = process.argv[2] ?? "";
  const sandbox = await createSandbox(config, { root, hide: [] });
  await sandbox.run({
    command: process.argv[3] ?? "",
    cwd: root,
    env: { PATH: process.env["PATH"] ?? "" },
    timeoutMs: 60_000,
    signal: new AbortController().signal,
    output: (chunk) => process.stdout.write(chunk),
  });
`;

describe.skipIf(reason !== undefined)("a command in the sandbox", () => {
  beforeAll(() => {
    buildSync({
      stdin: { contents: STARTER, resolveDir: ROOT, loader: "ts" },
      ...{ bundle: true, platform: "node", format: "esm", outfile: program, logLevel: "error" },
    });
  });

  test("has no descriptor that the starter inherited, however high", async () => {
    const line = `exec 9</etc 19</etc 251</etc; exec '${process.execPath}' '${program}' '${root}' "$1"`;
    const child = spawn("/bin/bash", ["-c", line, "bash", "ls /proc/self/fd"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let output = "";
    for await (const chunk of child.stdout) output += chunk;
    // The last one is the directory that is being listed.
    expect(output).toBe("0\n1\n2\n3\n");
  });

  test("ends with a starter that was killed, and so does what it put into the background", async () => {
    const seconds = 6_000_000 + process.pid;
    const line = `sleep ${seconds}`;
    const command = `setsid ${line} & until ${isAsleep(seconds)}; do :; done; echo started; ${line}`;
    const child = spawn(process.execPath, [program, root, command], { stdio: ["ignore", "pipe", "inherit"] });
    await new Promise((resolve) => child.stdout.once("data", resolve));
    expect(asleep(seconds).length).toBeGreaterThan(0);
    child.kill("SIGKILL");
    await expect.poll(() => asleep(seconds), { timeout: 45_000 }).toEqual([]);
  });
});
