// Which adapter is taken, and that nothing runs unheld where holding was asked for.
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { createSandbox } from "../../../src/runtime/sandbox/index.ts";
import { describeHost, findLauncher, type Host } from "../../../src/runtime/sandbox/probe.ts";
import { SANDBOX } from "../../support/plain-sandbox.ts";
import { runIn } from "./ground.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "demian-adapter-")));
const linux: Host = { ...describeHost(), platform: "linux", arch: "x64" };

afterAll(() => rmSync(root, { recursive: true, force: true }));

/** A program in the place of bubblewrap. */
function fakeBwrap(name: string, script: string): Host {
  const path = join(root, name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return { ...linux, bwrapPaths: [path] };
}

const place = { root, hide: [] };

describe.skipIf(process.platform !== "linux")("without a sandbox that works", () => {
  const holdsNothing =
    'while [ "$1" != -- ]; do [ "$1" = --chdir ] && cd "$2"; shift; done; shift; echo \'"exit-code": 0\' >&4; exec "$@"';

  test.each<[string, Host, RegExp]>([
    [
      "is missing",
      { ...linux, bwrapPaths: ["/nonexistent/bwrap"] },
      /bubblewrap is not installed: apt install bubblewrap/,
    ],
    [
      "is refused by the kernel",
      fakeBwrap("refused", "echo 'bwrap: No permissions to create new namespace' >&2; exit 1"),
      /the kernel refuses user namespaces: .*\[.*No permissions/,
    ],
    [
      "is in a container that allows no /proc",
      fakeBwrap(
        "container",
        'echo "bwrap: Can\'t mount proc on /newroot/proc: Operation not permitted" >&2; exit 1',
      ),
      /container/,
    ],
    ["holds nothing", fakeBwrap("open", holdsNothing), /it does not isolate: "written escaped seen"/],
    ["runs nothing", fakeBwrap("mute", "echo '\"exit-code\": 0' >&4"), /cannot write to its workspace/],
    ["is for another processor", { ...linux, arch: "mips" }, /architecture "mips"/],
    ["is for another system", { ...linux, platform: "freebsd" }, /no sandbox for freebsd/],
  ])("commands are refused when bubblewrap %s, with the reason", async (_what, host, problem) => {
    const sandbox = await createSandbox(SANDBOX, place, host);
    expect(sandbox.adapter).toBeUndefined();
    expect(sandbox.problem).toMatch(problem);
    expect(sandbox.problem).toMatch(/allowEnvOnly/);
    await expect(runIn(sandbox, root, "echo x > ran")).rejects.toMatchObject({ code: "sandbox_unavailable" });
    expect(existsSync(join(root, "ran"))).toBe(false);
  });

  test("with consent they run, reported as env-only", async () => {
    const host = { ...linux, bwrapPaths: ["/nonexistent/bwrap"] };
    const sandbox = await createSandbox({ ...SANDBOX, allowEnvOnly: true }, place, host);
    expect(sandbox).toMatchObject({
      adapter: "env-only",
      problem: expect.stringMatching(/without isolation.*not installed/),
    });
    expect(await runIn(sandbox, root, "echo ran")).toMatchObject({ adapter: "env-only", output: "ran\n" });
  });
});

test("mode off needs no sandbox and says nothing about one", async () => {
  const sandbox = await createSandbox({ ...SANDBOX, mode: "off" }, place, { ...linux, bwrapPaths: [] });
  expect(sandbox).toMatchObject({ adapter: "off", mode: "off" });
  expect(sandbox.problem).toBeUndefined();
});

test("the machine is looked at once in a process, and again after a failure", async () => {
  const count = join(root, "count");
  const host = fakeBwrap("counting", `echo x >> '${count}'; exit 1`);
  const looks = () => readFileSync(count, "utf8").trim().split("\n").length;
  await Promise.all([1, 2, 3].map(() => createSandbox(SANDBOX, place, host)));
  // Root tries with and without a user namespace.
  expect(looks()).toBe(host.isRoot ? 2 : 1);
  await createSandbox(SANDBOX, place, host);
  expect(looks()).toBe(host.isRoot ? 4 : 2);
});

test.skipIf(!("launcher" in (await findLauncher(describeHost()))))("what was found stays", () => {
  expect(findLauncher(describeHost())).toBe(findLauncher(describeHost()));
});

test("a workspace that cannot be sandboxed is refused", async () => {
  for (const [place, problem] of [
    ["/", /whole file system/],
    ["/proc", /is a kernel file system/],
    ["/proc/sys", /is a kernel file system/],
    ["/dev", /is a kernel file system/],
    ["/sys/fs", /is a kernel file system/],
  ] as const) {
    for (const mode of ["workspace-write", "read-only"] as const) {
      const refused = await createSandbox({ ...SANDBOX, mode }, { root: place, hide: [] });
      expect(refused).toMatchObject({ adapter: undefined, problem: expect.stringMatching(problem) });
    }
  }
  const hidden = await createSandbox(SANDBOX, { root, hide: [root] });
  expect(hidden).toMatchObject({
    adapter: undefined,
    problem: expect.stringMatching(/hidden from commands/),
  });
});

test.skipIf(!("launcher" in (await findLauncher(describeHost()))))(
  "in a home directory, and above one, commands cannot write, and that is reported",
  async () => {
    for (const home of [root, join(root, "me")]) {
      const sandbox = await createSandbox(SANDBOX, { root, hide: [], home });
      expect(sandbox).toMatchObject({ mode: "read-only", problem: expect.stringMatching(/home directory/) });
      const { output } = await runIn(sandbox, root, "echo evil > .bashrc; echo ran");
      expect(output).toMatch(/Read-only file system\nran\n$/);
      expect(existsSync(join(root, ".bashrc"))).toBe(false);
    }
    const below = await createSandbox(SANDBOX, { root, hide: [], home: join(root, "..") });
    expect(below.mode).toBe("workspace-write");
    expect(below.problem).toBeUndefined();
  },
);
