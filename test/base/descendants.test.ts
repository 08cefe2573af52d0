import { spawn } from "node:child_process";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import {
  findByEnvironment,
  isAlive,
  killAll,
  type ProcessId,
  takeSnapshot,
} from "../../src/base/descendants.ts";
import { isRunning, pidIn } from "../backends/processes.ts";
import { tempDir } from "../backends/temp-dir.ts";

const dir = tempDir("descendants");
/** Unique: the suite may run twice on one machine, and this test looks at all processes. */
const MARK = `DESCENDANTS_TEST_${process.pid}`;

/** A shell with the marker. */
function shell(script: string, mark: string): number {
  const child = spawn("sh", ["-c", script], { env: { ...process.env, [MARK]: mark }, stdio: "ignore" });
  return child.pid ?? 0;
}

afterEach(async () => {
  await killAll(await findByEnvironment(MARK, () => true), 0);
});

describe.skipIf(process.platform !== "linux")("descendants on Linux", () => {
  test("a child and a grandchild are found by their parent, this process is not among them", async () => {
    const file = join(dir, "tree");
    const root = shell(`sh -c 'echo $$ > ${file}; sleep 1000' ; true`, "tree");
    const grandchild = await pidIn(file);
    const pids = (await takeSnapshot(root)).map((id) => id.pid);
    expect(pids).toContain(grandchild);
    expect(pids).not.toContain(process.pid);
    expect(pids).not.toContain(root);
  });

  test("a process that did setsid and lost its parent is in no tree but is found by its environment", async () => {
    const file = join(dir, "lost");
    const root = shell(`(setsid sh -c 'echo $$ > ${file}; exec sleep 1000' &) ; sleep 1000`, "lost");
    const lost = await pidIn(file);
    expect((await takeSnapshot(root)).map((id) => id.pid)).not.toContain(lost);
    const found = await findByEnvironment(MARK, (value) => value === "lost");
    expect(found.map((id) => id.pid)).toContain(lost);
  });

  test("the value of the marker must match completely", async () => {
    const pid = shell("sleep 1000", "run-12");
    const found = await findByEnvironment(MARK, (value) => value === "run-1");
    expect(found.map((id) => id.pid)).not.toContain(pid);
  });

  test("a pid that was reused by another process is not killed", async () => {
    const pid = shell("exec sleep 1000", "reused");
    const [real] = await findByEnvironment(MARK, (value) => value === "reused");
    const older: ProcessId = { pid, started: `${real?.started}0` };
    expect(await isAlive(older)).toBe(false);
    await killAll([older], 0);
    expect(isRunning(pid)).toBe(true);
    expect(await killAll(real === undefined ? [] : [real], 0)).toEqual([]);
    expect(isRunning(pid)).toBe(false);
  });

  test("a process that ignores SIGTERM is still gone after the grace time", async () => {
    const file = join(dir, "stubborn");
    const pid = shell(`trap '' TERM; echo $$ > ${file}; while true; do sleep 1; done`, "stubborn");
    await pidIn(file);
    const ids = await findByEnvironment(MARK, (value) => value === "stubborn");
    expect(await killAll(ids, 50)).toEqual([]);
    expect(isRunning(pid)).toBe(false);
  });

  test("our own process is spared even when it carries the marker", async () => {
    const own = (await findByEnvironment("PATH", () => true)).map((id) => id.pid);
    expect(own).not.toContain(process.pid);
    expect(own).not.toContain(process.ppid);
  });
});
