import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Child, type ChildOrder, RUN_MARKER, startChild } from "../../src/base/child.ts";
import { isRunning, pidIn } from "../backends/processes.ts";
import { tempDir } from "../backends/temp-dir.ts";

const dir = tempDir("child");

interface Watched {
  child: Child;
  output(): string;
  /** Something was printed. */
  spoke: Promise<void>;
  errors: string[];
}

async function sh(script: string, over: Partial<ChildOrder> = {}): Promise<Watched> {
  const chunks: Buffer[] = [];
  const errors: string[] = [];
  let speak: () => void = () => undefined;
  const spoke = new Promise<void>((resolve) => {
    speak = resolve;
  });
  const output = (chunk: Buffer) => {
    chunks.push(chunk);
    speak();
  };
  const child = await startChild(
    { command: "sh", args: ["-c", script], env: process.env, ...over },
    { output, errorLine: (line) => errors.push(line) },
  );
  onTestFinished(() => child.stop());
  return { child, output: () => Buffer.concat(chunks).toString(), spoke, errors };
}

describe("startChild", () => {
  test("all output is delivered before `done`, and the exit keeps code and signal apart", async () => {
    const { child, output, errors } = await sh("echo out; echo one >&2; printf two >&2; exit 3");
    expect(await child.done).toEqual({ code: 3 });
    expect(output()).toBe("out\n");
    expect(errors).toEqual(["one", "two"]);
    const killed = await sh("kill -9 $$");
    expect(await killed.child.done).toEqual({ signal: "SIGKILL" });
  });

  test("a line written to it arrives", async () => {
    const { child, output } = await sh("read line; echo got $line");
    await child.write("hello");
    await child.done;
    expect(output()).toBe("got hello\n");
  });

  test("a write to a process that no longer reads is a rejection, never an uncaught error", async () => {
    const { child } = await sh("exec 0<&-; sleep 1000");
    const big = "x".repeat(1024 * 1024);
    await expect(Promise.all([child.write(big), child.write(big)])).rejects.toThrow();
    await child.stop();
    await expect(child.write("late")).rejects.toThrow();
  });

  test("output that a paused process wrote before it died is not lost", async () => {
    const { child, output } = await sh("read go; seq 1 5000; exit 0");
    child.pause();
    await child.write("go");
    await child.done;
    expect(output().trim().split("\n")).toHaveLength(5000);
  });

  test.each([
    ["a missing program", { command: "/no/such/program" }, "not_found"],
    ["a missing cwd", { cwd: "/no/such/dir" }, "bad_cwd"],
    ["a cwd that is a file", { cwd: "/etc/passwd" }, "bad_cwd"],
  ])("%s rejects with spawn_failed and says which", async (_name, over, reason) => {
    await expect(sh("true", over)).rejects.toMatchObject({ code: "spawn_failed", data: { reason } });
  });

  test("a file that is not executable rejects with spawn_failed", async () => {
    const file = join(dir, "plain.txt");
    writeFileSync(file, "text", { mode: 0o644 });
    const failed = sh("true", { command: file });
    await expect(failed).rejects.toMatchObject({ code: "spawn_failed", data: { reason: "not_executable" } });
  });

  test("every child gets its own run id, or the given one", async () => {
    const one = await sh(`echo $${RUN_MARKER}`);
    const two = await sh(`echo $${RUN_MARKER}`, { env: { ...process.env, [RUN_MARKER]: "mine" } });
    await Promise.all([one.child.done, two.child.done]);
    expect(one.output().trim()).toBe(one.child.runId);
    expect(two.output().trim()).toBe("mine");
  });
});

describe("Child.stop", () => {
  test("the end of input comes first if requested, so that a process can finish", async () => {
    const { child, output } = await sh("cat >/dev/null; echo finished");
    await child.stop({ finishMs: 5000 });
    expect(output()).toBe("finished\n");
    expect(await child.exit).toEqual({ code: 0 });
  });

  test("a process that ignores SIGTERM is killed", async () => {
    const { child, spoke } = await sh("trap '' TERM; echo ready; while true; do sleep 0.05; done");
    await spoke;
    await child.stop({ graceMs: 50 });
    expect(await child.exit).toEqual({ signal: "SIGKILL" });
    expect(isRunning(child.pid)).toBe(false);
  });

  test("a stop without patience overtakes one that waits for the process to finish", async () => {
    const { child } = await sh("trap '' HUP; exec sleep 1000");
    const patient = child.stop({ finishMs: 60_000 });
    await Promise.resolve();
    await child.stop();
    await patient;
    expect(await child.exit).toEqual({ signal: "SIGTERM" });
  });

  test.skipIf(process.platform !== "linux")("a grandchild that left the session dies with it", async () => {
    const file = join(dir, "stop-grandchild");
    const { child } = await sh(`(setsid sh -c 'echo $$ > ${file}; exec sleep 1000' &); sleep 1000`);
    const pid = await pidIn(file);
    await child.stop();
    expect(isRunning(pid)).toBe(false);
  });

  test.skipIf(process.platform !== "linux")("a crash sweeps as well, without a stop", async () => {
    const file = join(dir, "crash-grandchild");
    const { child } = await sh(`(setsid sh -c 'echo $$ > ${file}; exec sleep 1000' &); read go; kill -9 $$`);
    const pid = await pidIn(file);
    await child.write("go");
    await child.done;
    expect(isRunning(pid)).toBe(false);
  });
});
