// Which processes of an earlier daemon are found, and why others are not. Each is real: a `cat` on files.
// lane: process
import {
  chmodSync,
  existsSync,
  linkSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { expect, onTestFinished, test, vi } from "vitest";
import { type Child, RUN_MARKER, startChild } from "../../../src/base/child.ts";
import { isAlive, takeSnapshot } from "../../../src/base/descendants.ts";
import { adoptChild, endRun, type FoundRun, findRuns } from "../../../src/base/runs/adopt.ts";
import { describeRun } from "../../../src/base/runs/description.ts";
import type { RunDirectory } from "../../../src/base/runs/directory.ts";
import type { RunFiles } from "../../../src/base/runs/run-files.ts";
import { writeSnapshot } from "../../../src/base/runs/snapshots.ts";
import { isRunning } from "../../backends/processes.ts";
import { tempDir } from "../../backends/temp-dir.ts";
import { PATIENT } from "../../support/patience.ts";

interface Left {
  root: string;
  child: Child;
  files: RunFiles;
  directory: RunDirectory;
}

const SNAPSHOT = { session_id: "s", generation: "g", last_seq: 0, out: 0, err: 0, n: 0, has_init: true };
let roots = 0;
const base = tempDir("adopt");

/** A process whose daemon is gone. */
async function leave(script = "cat"): Promise<Left> {
  roots += 1;
  const root = `${base}/${roots}`;
  const unavailable = vi.fn();
  const child = await startChild(
    { command: "sh", args: ["-c", script], env: process.env, run: { root, unavailable } },
    { output: () => undefined, errorLine: () => undefined },
  );
  expect(unavailable).not.toHaveBeenCalled();
  onTestFinished(() => {
    if (isRunning(child.pid)) process.kill(child.pid, "SIGKILL");
  });
  const { files } = child;
  if (files === undefined) throw new Error("it has no files");
  await describeRun(child, { version: "1", backend: "fake", command: "sh", intro: {} });
  writeSnapshot(files.directory.sessions, { ...SNAPSHOT, state: { a: 1 } });
  return { root, child, files, directory: files.directory };
}

async function findOne(root: string): Promise<FoundRun> {
  const { found, left } = await findRuns(root);
  expect(left).toEqual([]);
  if (found[0] === undefined) throw new Error("nothing was found");
  return found[0];
}

test("a running one is found with its snapshot, written to, read from, and ended", async () => {
  const { root, child, files, directory } = await leave();
  files.detach();
  const run = await findOne(root);
  expect(run).toMatchObject({
    description: { pid: child.pid, backend: "fake" },
    snapshots: [{ state: { a: 1 } }],
  });
  const chunks: Buffer[] = [];
  const adopted = adoptChild(run, {
    handlers: { output: (bytes) => void chunks.push(Buffer.from(bytes)), errorLine: () => undefined },
    from: { run_id: directory.id, out: 0, err: 0, n: 0 },
    unrecorded: (error) => {
      throw error;
    },
  });
  adopted.files?.start(child.pid);
  await adopted.write("hello");
  await vi.waitFor(() => expect(Buffer.concat(chunks).toString()).toBe("hello\n"), PATIENT);
  await adopted.stop();
  expect(isRunning(child.pid)).toBe(false);
  expect((await findRuns(root)).left).toEqual([]);
});

test("the marker of the environment is the name of the directory", async () => {
  const { child, directory } = await leave("exec cat");
  expect(readFileSync(`/proc/${child.pid}/environ`, "utf8")).toContain(`${RUN_MARKER}=${directory.id}`);
});

test.each<[string, (left: Left) => void]>([
  ["has ended", ({ child }) => process.kill(child.pid, "SIGKILL")],
  ["has another process's pid now", ({ directory }) => edit(directory, { pid: process.pid })],
])(
  "what a process wrote that %s is read to its end; its directory stays while a session needs it",
  async (_, end) => {
    const left = await leave("echo said; echo wrong >&2; exec cat");
    const { root, files, directory } = left;
    await vi.waitFor(() => expect(readFileSync(directory.errors, "utf8")).toBe("wrong\n"), PATIENT);
    files.detach();
    end(left);
    const run = await vi.waitFor(async () => {
      const found = await findOne(root);
      expect(found.hasEnded).toBe(true);
      return found;
    }, PATIENT);
    const said: string[] = [];
    const adopted = adoptChild(run, {
      handlers: {
        output: (bytes) => void said.push(String(bytes)),
        errorLine: (line) => void said.push(line),
      },
      from: { run_id: directory.id, out: 0, err: 0, n: 0 },
      unrecorded: expect.unreachable,
    });
    adopted.files?.startRepeating([SNAPSHOT]);
    adopted.files?.start(run.description.pid);
    await adopted.done;
    expect(said.toSorted()).toEqual(["said\n", "wrong"]);
    expect(existsSync(directory.path)).toBe(true);
    adopted.files?.dropSnapshot(SNAPSHOT.session_id);
    expect(existsSync(directory.path)).toBe(false);
  },
);

const edit = (directory: RunDirectory, over: object): void => {
  const content = JSON.parse(readFileSync(directory.description, "utf8")) as object;
  writeFileSync(directory.description, JSON.stringify({ ...content, ...over }), { mode: 0o600 });
};

test.each<[string, (left: Left) => void, RegExp]>([
  [
    "another format",
    ({ directory }) => edit(directory, { format: 999, version: "9.9" }),
    /blemeesd 9\.9, which uses another run format/,
  ],
  [
    "another format with other fields",
    ({ directory }) => edit(directory, { format: 999, version: "9.9", intro: undefined, command: 1 }),
    /blemeesd 9\.9, which uses another run format/,
  ],
  ["another start", ({ directory }) => edit(directory, { started: "other boot" }), /its process has ended/],
  ["no description", ({ directory }) => rmSync(directory.description), /ENOENT/],
  [
    "a description that is none",
    ({ directory }) => writeFileSync(directory.description, "{"),
    /its run\.json is not JSON/,
  ],
  [
    "a description of nothing",
    ({ directory }) => writeFileSync(directory.description, "{}"),
    /its run\.json describes no process/,
  ],
  [
    "a description that is incomplete",
    ({ directory }) => edit(directory, { intro: undefined }),
    /its run\.json is incomplete: .*\n.*intro/,
  ],
  ["a FIFO that vanished", ({ directory }) => rmSync(directory.input), /ENOENT/],
  [
    "a file instead of the FIFO",
    ({ directory }) => {
      rmSync(directory.input);
      writeFileSync(directory.input, "", { mode: 0o600 });
    },
    /is not a FIFO/,
  ],
  [
    "a directory that others can open",
    ({ directory }) => chmodSync(directory.path, 0o755),
    /accessible to other users; its mode must be 0700/,
  ],
  [
    "a file that others can open",
    ({ directory }) => chmodSync(directory.record, 0o644),
    /record is accessible to other users; its mode must be 0600/,
  ],
  [
    "a link instead of the output",
    ({ directory }) => {
      rmSync(directory.output);
      symlinkSync("/etc/passwd", directory.output);
    },
    /is not a file/,
  ],
  [
    "a file with another name",
    ({ directory }) => linkSync(directory.record, `${directory.path}/x`),
    /record has more than one hard link/,
  ],
  ["no session", ({ directory }) => rmSync(`${directory.sessions}/s`), /serves no session/],
  [
    "a snapshot that is cut",
    ({ directory }) => truncateSync(`${directory.sessions}/s`, 20),
    /its snapshots cannot be read/,
  ],
  [
    "a damaged record",
    ({ directory }) => writeFileSync(directory.record, "{\n", { mode: 0o600 }),
    /its record cannot be read: .*JSON/,
  ],
  [
    "a long line that may be torn",
    ({ files }) => void files.record.write("x".repeat(5000)),
    /killed while writing a long line to its stdin/,
  ],
])("%s is not adopted, and the reason is given", async (_name, damage, reason) => {
  const left = await leave();
  damage(left);
  left.files.detach();
  const { found, left: refused } = await findRuns(left.root);
  expect(found).toEqual([]);
  expect(refused.map((one) => one.reason).join()).toMatch(reason);
});

test("a file or a directory that is no run is reported, and nothing else is touched", async () => {
  const { root, files } = await leave();
  files.detach();
  writeFileSync(`${root}/note.txt`, "mine");
  const { found, left } = await findRuns(root);
  expect(found).toHaveLength(1);
  expect(left.map(({ reason }) => reason).join()).toMatch(/note\.txt is not a directory/);
});

test("if the runs cannot be listed, the reason is given", async () => {
  roots += 1;
  const root = `${base}/${roots}`;
  const unreadable = vi.fn();
  expect(await findRuns(root, unreadable)).toEqual({ found: [], left: [] });
  expect(unreadable).not.toHaveBeenCalled();
  writeFileSync(root, "");
  expect(await findRuns(root, unreadable)).toEqual({ found: [], left: [] });
  expect(String(unreadable.mock.calls[0]?.[0])).toContain("ENOTDIR");
});

/** Without the marker in its environment. */
const UNMARKED = 'exec env -i PATH="$PATH" sh -c "sleep 1000; :"';

test("a process that has cleared its environment is ended by its pid, with what it has started", async () => {
  const { child, files, directory } = await leave(UNMARKED);
  await vi.waitFor(async () => expect(await takeSnapshot(child.pid)).toHaveLength(1), PATIENT);
  const [started] = await takeSnapshot(child.pid);
  files.detach();
  edit(directory, { format: 999 });
  await endRun(directory);
  expect(isRunning(child.pid)).toBe(false);
  expect(started !== undefined && (await isAlive(started))).toBe(false);
  expect(existsSync(directory.path)).toBe(false);
});

test.each<[string, (directory: RunDirectory) => void]>([
  ["has another start", (directory) => edit(directory, { started: "other boot" })],
  ["others may have written", (directory) => chmodSync(directory.description, 0o666)],
])("a process whose description %s is not ended by its pid", async (_why, change) => {
  const { child, files, directory } = await leave(UNMARKED);
  await vi.waitFor(async () => expect(await takeSnapshot(child.pid)).toHaveLength(1), PATIENT);
  files.detach();
  change(directory);
  await endRun(directory);
  expect(isRunning(child.pid)).toBe(true);
});
