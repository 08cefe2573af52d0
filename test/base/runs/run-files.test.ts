// The files of a running process: order, braking, space, and what happens when nothing can be recorded.
// lane: process
import { existsSync, readFileSync, statSync } from "node:fs";
import { expect, onTestFinished, test, vi } from "vitest";
import { type Child, startChild } from "../../../src/base/child.ts";
import type { RunFiles } from "../../../src/base/runs/run-files.ts";
import { isRunning } from "../../backends/processes.ts";
import { tempDir } from "../../backends/temp-dir.ts";
import { PATIENT } from "../../support/patience.ts";

const root = tempDir("run-files");

interface Started {
  child: Child;
  files: RunFiles;
  output(): string;
  errors: string[];
  unavailable: ReturnType<typeof vi.fn>;
}

async function start(script: string): Promise<Started> {
  const chunks: Buffer[] = [];
  const errors: string[] = [];
  const unavailable = vi.fn();
  const child = await startChild(
    { command: "sh", args: ["-c", script], env: process.env, run: { root, unavailable } },
    { output: (bytes) => void chunks.push(Buffer.from(bytes)), errorLine: (line) => void errors.push(line) },
  );
  onTestFinished(() => child.stop());
  const { files } = child;
  if (files === undefined) throw new Error("it has no files");
  return { child, files, output: () => Buffer.concat(chunks).toString(), errors, unavailable };
}

function stateOf(pid: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return stat.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3);
}

test("all output is delivered before `done`, and the directory is gone afterwards", async () => {
  const { child, files, output, errors } = await start("echo out; echo one >&2; printf two >&2; exit 3");
  expect(await child.done).toEqual({ code: 3 });
  expect(output()).toBe("out\n");
  expect(errors).toEqual(["one", "two"]);
  await vi.waitFor(() => expect(existsSync(files.directory.path)).toBe(false), PATIENT);
});

test("a process that does not read its input is not ended by it, and a stop ends it", async () => {
  const { child, files } = await start("exec sleep 1000");
  await child.write("nobody reads this");
  await child.stop({ finishMs: 10 });
  expect(isRunning(child.pid)).toBe(false);
  expect(existsSync(files.directory.path)).toBe(false);
});

test.runIf(process.platform === "linux")(
  "a process that writes while nothing is read is stopped, and continues when it is read",
  async () => {
    const { child, files, output } = await start(
      "yes 0123456789abcdef | head -c 8000000; read more; yes | head -c 4000000; echo; exec sleep 1000",
    );
    child.pause();
    await vi.waitFor(() => expect(stateOf(child.pid)).toBe("T"), PATIENT);
    // Stopped, it does not read this.
    await child.write("more");
    expect(statSync(files.directory.output).size).toBeLessThanOrEqual(8_000_000);
    child.resume();
    await vi.waitFor(() => expect(output().length).toBe(12_000_001), PATIENT);
    await vi.waitFor(() => expect(stateOf(child.pid)).toBe("S"), PATIENT);
  },
);

test.runIf(process.platform === "linux")(
  "output that no snapshot needs is freed, and offsets stay",
  async () => {
    const { files, output } = await start("head -c 2000000 /dev/zero | tr '\\0' x; echo; exec sleep 1000");
    await vi.waitFor(() => expect(output().length).toBe(2_000_001), PATIENT);
    const before = statSync(files.directory.output);
    files.noteSnapshot("s", { out: files.mark.out, n: 0 });
    const after = statSync(files.directory.output);
    expect(after.size).toBe(before.size);
    expect(after.blocks).toBeLessThan(before.blocks / 4);
  },
);

test("if nothing can be recorded, the process continues, is reported once, and is not adopted", async () => {
  const { child, files, output, unavailable } = await start("exec cat");
  files.record.flush = () => {
    throw new Error("no space left");
  };
  const call = { at: 0, session_id: "s", name: "send", args: [] };
  expect([files.call(call, () => "made"), files.call(call, () => "made")]).toEqual(["made", "made"]);
  expect(unavailable).toHaveBeenCalledOnce();
  expect(existsSync(files.directory.description)).toBe(false);
  await child.write("still here");
  await vi.waitFor(() => expect(output()).toBe("still here\n"), PATIENT);
});

test("without its directory the process is not started on files, and gets pipes", async () => {
  const unavailable = vi.fn();
  const child = await startChild(
    {
      command: "sh",
      args: ["-c", "exec cat"],
      env: process.env,
      run: { root: "/dev/null/runs", unavailable },
    },
    { output: () => undefined, errorLine: () => undefined },
  );
  onTestFinished(() => child.stop());
  expect(child.files).toBeUndefined();
  expect(unavailable).toHaveBeenCalledOnce();
});
