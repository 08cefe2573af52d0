// What a command may use: it is ended, or fails with a clear message, and others are not affected.
import { execFileSync, spawnSync } from "node:child_process";
import {
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { buildSync } from "esbuild";
import { afterAll, describe, expect, test } from "vitest";
import { createSandbox } from "../../../src/runtime/sandbox/index.ts";
import { chooseProcessLimit, describeGaps, resolveLimits } from "../../../src/runtime/sandbox/limits.ts";
import { findProcessGroups, JOIN_GROUP, listCandidates } from "../../../src/runtime/sandbox/process-group.ts";
import type { SandboxConfig } from "../../../src/runtime/sandbox/types.ts";
import { usesMoreThan } from "../../../src/runtime/sandbox/watch.ts";
import { SANDBOX } from "../../support/plain-sandbox.ts";
import { ROOT } from "../../support/root.ts";
import { IS_CHAOS } from "../../support/sizes.ts";
import { asleep, runIn, whyNoSandbox } from "./ground.ts";

const lacking = await whyNoSandbox();
const reason = process.platform === "linux" ? lacking : "these limits are for Linux";
if (reason !== undefined) test.skip(`no limit was tried: ${reason}`, () => undefined);
const isRoot = process.getuid?.() === 0;
const canBecomeOther = isRoot && spawnSync("setpriv", ["--version"]).status === 0;

const base = realpathSync(mkdtempSync("/var/tmp/demian-limits-"));
afterAll(() => rmSync(base, { recursive: true, force: true }));

const open = (config: Partial<SandboxConfig> = {}) =>
  createSandbox({ ...SANDBOX, ...config }, { root: base, hide: [] });
const run = async (command: string, config: Partial<SandboxConfig> = {}) =>
  runIn(await open(config), base, command, { timeoutMs: 60_000 });
/** A time that no other process sleeps for. */
const SECONDS = 5_000_000 + process.pid;
/** Small in the gate, where other tests run at the same time; with the default limit in chaos. */
const MOST = IS_CHAOS ? 1500 : 100;
const FORKS = `for i in $(seq ${IS_CHAOS ? 2000 : 200}); do sleep ${SECONDS} & done; wait`;
const BOMB = "b() { b | b & }; b; sleep 50";

describe.skipIf(reason !== undefined)("a command", { timeout: 90_000 }, () => {
  const isLimited = (sandbox: { gaps?: readonly string[] }) => sandbox.gaps?.length === 0;

  test.each([MOST, 16])(
    "that starts more than %i processes is ended, and others run",
    async (maxProcesses) => {
      const sandbox = await open({ maxProcesses });
      const [many, other] = await Promise.all([
        runIn(sandbox, base, FORKS, { timeoutMs: 60_000 }),
        run("for i in 1 2 3 4 5; do /bin/echo alive; done"),
      ]);
      expect(many.exceeded).toBe("processes");
      expect(other.output).toBe("alive\n".repeat(5));
      expect(asleep(SECONDS)).toEqual([]);
    },
  );

  test("that doubles without end is stopped at its limit", async () => {
    const sandbox = await open({ maxProcesses: 100 });
    // Elsewhere only the watch would stop it, late: the machine would suffer.
    if (!isLimited(sandbox)) return;
    const ran = await runIn(sandbox, base, BOMB, { timeoutMs: 60_000 });
    expect(ran.exceeded).toBe("processes");
    expect((await run("echo alive")).output).toBe("alive\n");
  });

  test("that is another user's is stopped at its limit by the kernel", { timeout: 120_000 }, ({ skip }) => {
    skip(!canBecomeOther, "this needs root and setpriv");
    const root = join(base, "other");
    mkdirSync(root);
    chownSync(root, 65534, 65534);
    execFileSync("chmod", ["755", base]);
    const program = join(root, "program.cjs");
    const contents = `
      import { createSandbox } from "./src/runtime/sandbox/index.ts";
      const config = { mode: "workspace-write", network: "inherit", allowEnvOnly: false, writableGit: false, maxProcesses: ${MOST} };
      void createSandbox(config, { root: ${JSON.stringify(root)}, hide: [], home: "/nonexistent" }).then(async (sandbox) => {
        const run = (command) => sandbox.run({ command, cwd: ${JSON.stringify(root)}, env: { PATH: "/usr/bin:/bin" },
          timeoutMs: 60_000, signal: new AbortController().signal, output: () => undefined });
        const { exceeded } = await run(${JSON.stringify(FORKS)});
        const { code } = await run("ulimit -u | grep -qx ${MOST}");
        console.log(JSON.stringify({ exceeded, code, gaps: sandbox.gaps, problem: sandbox.problem }));
      });`;
    buildSync({
      stdin: { contents, resolveDir: ROOT, loader: "ts" },
      ...{ bundle: true, platform: "node", format: "cjs", outfile: program, logLevel: "error" },
    });
    const args = ["--reuid=65534", "--regid=65534", "--clear-groups", process.execPath, program];
    const { stdout, stderr } = spawnSync("setpriv", args, { encoding: "utf8", cwd: "/" });
    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toEqual({ exceeded: "processes", code: 0, gaps: [] });
  });

  test("that uses too much memory is ended; shared memory counts once", async () => {
    const hungry = `perl -e '$x = "x" x 400_000_000; sleep 50'`;
    expect((await run(hungry, { maxMemoryMb: 256 })).exceeded).toBe("memory");
    const sharing = `perl -e '$x = "x" x 100_000_000; for (1..5) { fork or do { sleep 1; exit } } wait for 1..5; print "done"'`;
    expect(await run(sharing, { maxMemoryMb: 256 })).toMatchObject({ code: 0, output: "done" });
  });

  test("that fills /tmp or /dev/shm with 3 GB fails, and can write where it may", async () => {
    const fill = (place: string) => `fallocate -l 3G ${place}/x && echo ESCAPED; rm -f ${place}/x`;
    expect((await run(fill(base), { mode: "off" })).output, "the control").toBe("ESCAPED\n");
    for (const place of ["/tmp", "/dev/shm"]) {
      expect((await run(fill(place))).output).toMatch(/No space left on device\n$/);
      const small = await run(
        `head -c 9000000 /dev/zero > ${place}/x; echo fits > ${place}/y; cat ${place}/y`,
        {
          maxTemporaryMb: 8,
        },
      );
      expect(small.output).toMatch(/No space left on device/);
    }
    expect((await run("echo x > /tmp/x && echo y > /dev/shm/y && cat /tmp/x /dev/shm/y")).output).toBe(
      "x\ny\n",
    );
    expect((await run("echo x > /dev/x; echo x > /dev/null && echo ran")).output).toMatch(
      /Read-only file system\nran\n$/,
    );
  });

  test("is the first that the kernel ends when memory runs out", async () => {
    expect((await run("cat /proc/self/oom_score_adj")).output).toBe("1000\n");
  });

  test("is in a control group with its limit, and leaves none behind", async ({ skip }) => {
    const parent = await findProcessGroups();
    if (parent === undefined || !isRoot) return skip("no control groups here");
    const groups = () => readdirSync(parent).filter((name) => name.startsWith(`demian-${process.pid}-`));
    const read = (name: string) =>
      groups().map((group) => readFileSync(join(parent, group, name), "utf8").trim());
    await expect.poll(groups, { timeout: 30_000 }).toEqual([]);
    const seen = { limits: [""], members: [""] };
    const abort = new AbortController();
    const request = { command: "echo started; sleep 50", cwd: base, env: {}, timeoutMs: 60_000 };
    const output = () => {
      seen.limits = read("pids.max");
      seen.members = read("cgroup.procs");
      abort.abort();
    };
    const sandbox = await open({ maxProcesses: 77 });
    await sandbox.run({ ...request, signal: abort.signal, output });
    // Not only watched: the kernel refuses more.
    expect(seen).toEqual({ limits: ["77"], members: [expect.stringMatching(/^\d/)] });
    await expect.poll(groups, { timeout: 30_000 }).toEqual([]);
  });
});

test("limits come from the configuration, memory by default from the machine", () => {
  expect(resolveLimits({ maxProcesses: 20, maxMemoryMb: 2, maxTemporaryMb: 3 })).toEqual({
    ...{ processes: 20, memoryBytes: 2 * 1024 ** 2, temporaryBytes: 3 * 1024 ** 2 },
  });
  const { processes, temporaryBytes, memoryBytes } = resolveLimits({});
  expect({ processes, temporaryBytes }).toEqual({ processes: 1500, temporaryBytes: 2 * 1024 ** 3 });
  expect(memoryBytes).toBeGreaterThan(0);
  expect(Number.isSafeInteger(memoryBytes)).toBe(true);
});

test("memory that processes share is not counted twice while they end", () => {
  let alive = ["a", "b", "c", "d"];
  const share = () => 100 / alive.length;
  const resident = (place: string) => (alive.includes(place) ? 100 : 0);
  const ending = (place: string) => {
    const now = share();
    alive = alive.filter((one) => one !== place);
    return now;
  };
  const list = () => alive;
  expect(usesMoreThan(99, { list, resident, share })).toBe(true);
  expect(usesMoreThan(100, { list, resident, share })).toBe(false);
  // 25 + 33 + 50 + 100, and then nothing.
  expect(usesMoreThan(150, { list, resident, share: ending })).toBe(false);
  // Processes that end all the time do not help.
  expect(usesMoreThan(150, { list: () => ["a", "b"], resident: endless(), share: () => 100 })).toBe(true);
});

/** Two processes, the first of which is always gone after it was measured. */
function endless(): () => number {
  let count = 0;
  return () => {
    count += 1;
    return count > 2 && count % 3 === 2 ? 0 : 100;
  };
}

test("a process limit is used only where it counts the processes of the sandbox alone", async () => {
  expect(await chooseProcessLimit(false, true, "6.1.0-13-amd64")).toEqual({ kind: "rlimit" });
  expect(await chooseProcessLimit(false, true, "5.14.0")).toEqual({ kind: "rlimit" });
  for (const [isRootUser, hasUserNamespace, kernel] of [
    [false, true, "5.10.0-1"],
    [true, true, "6.1.0"],
    [false, false, "6.1.0"],
  ] as const) {
    expect((await chooseProcessLimit(isRootUser, hasUserNamespace, kernel)).kind).not.toBe("rlimit");
  }
});

test("what cannot be limited is reported", () => {
  expect(describeGaps({ kind: "rlimit" }, true)).toEqual([]);
  expect(describeGaps({ kind: "none", why: "no reason" }, false)).toEqual([
    expect.stringMatching(/processes.*: no reason$/),
    expect.stringContaining("bubblewrap 0.7"),
  ]);
});

test.each([
  ["tasks in version 1, which does not wait", ["tasks", "cgroup.procs"], "tasks"],
  ["cgroup.procs in version 2", ["cgroup.procs"], "cgroup.procs"],
])("a control group is joined through %s", (_which, names, expected) => {
  const group = mkdtempSync(join(base, "group-"));
  for (const name of names) writeFileSync(join(group, name), "");
  execFileSync("/bin/sh", ["-c", JOIN_GROUP, group]);
  expect(names.filter((name) => readFileSync(join(group, name), "utf8") === "0\n")).toEqual([expected]);
});

describe("control groups are looked for", () => {
  const mounts = {
    first:
      "30 25 0:26 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n31 25 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory",
    second: "30 25 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate",
    inContainer: "30 25 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw",
  };

  test.each([
    ["in version 1", mounts.first, "8:pids:/a\n4:memory:/b\n0::/", ["/sys/fs/cgroup/pids/a"]],
    ["in version 1, at the top", mounts.first, "8:pids:/", ["/sys/fs/cgroup/pids"]],
    [
      "in version 2, first next to our own",
      mounts.second,
      "0::/system.slice/demian.service",
      ["/sys/fs/cgroup/system.slice", "/sys/fs/cgroup/system.slice/demian.service"],
    ],
    ["in version 2, at the top", mounts.second, "0::/", ["/sys/fs/cgroup"]],
    ["in a container", mounts.inContainer, "0::/docker/abc", ["/sys/fs/cgroup"]],
    ["outside of what a container sees", mounts.inContainer, "0::/other", []],
    ["without any", "", "", []],
  ])("%s", async (_where, mountinfo, cgroup, expected) => {
    const root = mkdtempSync(join(base, "proc-"));
    mkdirSync(join(root, "proc/self"), { recursive: true });
    writeFileSync(join(root, "proc/self/mountinfo"), mountinfo);
    writeFileSync(join(root, "proc/self/cgroup"), cgroup);
    expect(await listCandidates(root)).toEqual(expected.map((path) => join(root, path)));
  });
});
