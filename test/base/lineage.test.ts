import { spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { type Lineage, readLineage, readStartTime } from "../../src/base/lineage.ts";
import { createProcSource, createPsSource, type ProcessSource } from "../../src/base/process-source.ts";
import { findSocketOwners, findSockets } from "../../src/base/tcp-owner.ts";

const isLinux = process.platform === "linux";

async function startCat(env: Record<string, string> = {}) {
  const child = spawn("cat", {
    env: { PATH: process.env["PATH"] ?? "", ...env },
    stdio: ["pipe", "ignore", "ignore"],
  });
  onTestFinished(() => void child.kill());
  await once(child, "spawn");
  return child;
}

test.runIf(isLinux)("a lineage ends before this process, and shows each environment", async () => {
  const { pid } = await startCat({ LINEAGE_TEST: "yes" });
  const { state, processes } = readLineage(pid);
  expect(state).toBe("found");
  expect(processes.map((one) => one.pid)).toEqual([pid]);
  expect(processes[0]?.read("LINEAGE_TEST")).toBe("yes");
  expect(processes[0]?.read("LINEAGE")).toBeUndefined();
});

test.runIf(isLinux)("a process that has exited is gone, and so is one with another start time", async () => {
  const child = await startCat();
  const pid = child.pid ?? 0;
  const started = readStartTime(pid);
  expect(readLineage(pid, started).state).toBe("found");
  expect(readLineage(pid, started + 1).state).toBe("gone");
  child.stdin.end();
  await once(child, "exit");
  expect(readLineage(pid, started).state).toBe("gone");
  expect(readLineage(pid, readStartTime(pid)).state).toBe("gone");
});

test("without a pid nothing is known", () => {
  expect(readLineage(undefined)).toMatchObject({ state: "unknown", processes: [] });
});

test.runIf(isLinux)("the owner of a loopback socket is found, and none once it is closed", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const client = connect(port, "127.0.0.1");
  const accepted = once(server, "connection");
  await once(client, "connect");
  await accepted;
  const end = { port: client.localPort ?? 0, otherPort: port };
  const refuse = async (pid: number) => {
    if (pid === process.pid) throw Object.assign(new Error("no"), { code: "EACCES" });
    return [];
  };
  // A process that hides its descriptors, and a connection that is on its way to another process.
  expect(await findSocketOwners(end, refuse)).toEqual({ hidden: [process.pid] });
  expect(await findSocketOwners(end, async () => [])).toEqual({ hidden: [] });
  expect((await findSocketOwners(end)).processes).toContain(process.pid);
  client.destroy();
  await once(client, "close");
  expect(await findSocketOwners(end)).toEqual({ processes: [] });
});

test("a row of /proc/net/tcp is matched by both ports and its state", () => {
  const table = [
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode",
    "   0: 0100007F:1D09 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 11 1 0 100 0",
    "   1: 0100007F:C350 0100007F:1D09 06 00000000:00000000 03:00000000 00000000     0        0 0 3 0",
    "   2: 0100007F:C351 0100007F:1D09 01 00000000:00000000 00:00000000 00000000  1000        0 33 1 0",
    // Another loopback address with the same ports: nobody passes for the other one.
    "   3: 0500007F:C351 0100007F:1D09 01 00000000:00000000 00:00000000 00000000  1000        0 44 1 0",
  ].join("\n");
  expect(findSockets(table, { port: 50_001, otherPort: 7433 })).toEqual([
    { inode: "33", uid: 1000 },
    { inode: "44", uid: 1000 },
  ]);
  expect(findSockets(table, { port: 50_000, otherPort: 7433 })).toEqual([]);
  expect(findSockets(table, { port: 50_001, otherPort: 7434 })).toEqual([]);
});

/** A made-up process table: [pid, parent, start time, environment, user]. `changes`: after which read a parent is another. */
function fakeProc(rows: readonly Row[], hidden: readonly number[] = []): ProcessSource {
  const find = (pid: number): Row | undefined => rows.find((row) => row[0] === pid);
  return {
    read(pid) {
      const [, ppid, started] = find(pid) ?? [];
      return ppid === undefined || started === undefined ? "missing" : { pid, ppid, started };
    },
    readVariable: (pid, name) => find(pid)?.[3]?.[name],
    isHidden: (pid) => hidden.includes(pid),
    readUser: (pid) => find(pid)?.[4] ?? process.getuid?.(),
  };
}
type Row = [pid: number, ppid: number, started: number, env?: Record<string, string>, user?: number];

const pidsOf = ({ processes }: Lineage): number[] => processes.map(({ pid }) => pid);

test("ancestors that cannot all be read leave a lineage partial, so that nobody hides behind their number", () => {
  // No process has such pids: the walk ends at the one of this process.
  const first = 8_001_000;
  const rows = (count: number): Row[] =>
    Array.from({ length: count }, (_, at) => [first - at, first - 1 - at, 500 - at]);
  expect(readLineage(first, undefined, fakeProc([...rows(65), [first - 65, 1, 1]])).state).toBe("found");
  expect(readLineage(first, undefined, fakeProc(rows(400))).state).toBe("partial");
});

test("an ancestor that exits while the lineage is read is replaced by the next one", () => {
  const source = fakeProc([
    [30, 20, 9],
    [10, 1, 5],
  ]);
  let reads = 0;
  const read = (pid: number) => {
    if (pid !== 30) return source.read(pid);
    reads += 1;
    return { pid, ppid: reads > 1 ? 10 : 20, started: 9 };
  };
  const lineage = readLineage(30, undefined, { ...source, read });
  expect([lineage.state, pidsOf(lineage)]).toEqual(["found", [30, 10]]);
});

test("a pid that was used again is no ancestor", () => {
  const source = fakeProc([
    [30, 20, 9],
    [20, 1, 10],
    [10, 1, 5],
  ]);
  let reads = 0;
  const read = (pid: number) => {
    if (pid !== 30) return source.read(pid);
    reads += 1;
    return { pid, ppid: reads > 1 ? 10 : 20, started: 9 };
  };
  expect(pidsOf(readLineage(30, undefined, { ...source, read }))).toEqual([30, 10]);
});

test("an ancestor that always changes leaves a lineage partial", () => {
  const source = fakeProc([[20, 1, 10]]);
  const read = (pid: number) => (pid === 30 ? { pid, ppid: 20, started: 9 } : source.read(pid));
  expect(readLineage(30, undefined, { ...source, read }).state).toBe("partial");
});

test("parents of other users that the system does not show end a lineage", () => {
  const lineage = readLineage(30, undefined, fakeProc([[30, 20, 9]], [30]));
  expect([lineage.state, pidsOf(lineage), lineage.isHidden()]).toEqual(["found", [30], false]);
});

test.each<[string, Row[], number[], boolean]>([
  ["itself", [[30, 1, 9]], [30], true],
  [
    "not itself",
    [
      [30, 20, 9],
      [20, 1, 5],
    ],
    [20],
    false,
  ],
  [
    "itself, below another user's process",
    [
      [30, 20, 9],
      [20, 1, 5, {}, 99_999],
    ],
    [30],
    false,
  ],
])("a process counts as hidden if it hides %s", (_name, rows, hidden, expected) => {
  expect(readLineage(30, undefined, fakeProc(rows, hidden)).isHidden()).toBe(expected);
});

test("where the system shows no parents, the environment of the process itself is still read", () => {
  const source = fakeProc([[30, 1, 9, { MARK: "x" }]]);
  const lineage = readLineage(30, undefined, { ...source, read: () => "unavailable" });
  expect([lineage.state, lineage.processes[0]?.read("MARK")]).toEqual(["unknown", "x"]);
});

test("a process whose environment is refused is hidden if it is this user's", () => {
  const read = (uid: number | undefined) => (path: string) => {
    if (path.endsWith("/status")) return `Name:\tx\nUid:\t${uid}\t0\t0\t0\n`;
    throw Object.assign(new Error("no"), { code: path.endsWith("/environ") ? "EACCES" : "ENOENT" });
  };
  const uid = process.getuid?.() ?? 0;
  expect(createProcSource(read(uid)).isHidden(7)).toBe(true);
  expect(createProcSource(read(uid + 1)).isHidden(7)).toBe(false);
  expect(createProcSource(read(uid)).readVariable(7, "MARK")).toBeUndefined();
  expect(createProcSource(read(uid)).read(7)).toBe("missing");
});

test("ps shows parents and environments where there is no /proc", () => {
  const uid = process.getuid?.() ?? 0;
  const outputs: Record<string, string> = {
    "-axo": `  30    20 ${uid} Wed Nov 18 20:05:19 2026\n   20     1  0 Wed Nov 18 20:05:18 2026\n`,
    eww: "node a.js BLEMEES_RUN_ID=r 1 HOME=/x y BLEMEES_DAEMON_ID=7@/run/a b/s\n",
  };
  const source = createPsSource(([first = ""]) => outputs[first] ?? "");
  const { state, processes } = readLineage(30, undefined, source);
  expect([state, processes.map(({ pid }) => pid)]).toEqual(["found", [30, 20]]);
  const [first] = processes;
  expect(["BLEMEES_RUN_ID", "HOME", "BLEMEES_DAEMON_ID", "ID"].map((name) => first?.read(name))).toEqual([
    "r 1",
    "/x y",
    "7@/run/a b/s",
    undefined,
  ]);
  expect(readLineage(31, undefined, source).state).toBe("gone");
  const failing = createPsSource(() => {
    throw new Error("no ps");
  });
  expect(readLineage(30, undefined, failing).state).toBe("unknown");
});

test("the real ps says the same as /proc", async () => {
  const { pid } = await startCat({ LINEAGE_TEST: "yes", OTHER: "1" });
  const source = createPsSource();
  const { state, processes } = readLineage(pid, undefined, source);
  // A system without ps shows nothing.
  if (state === "unknown") return;
  expect([state, processes.map((one) => one.pid)]).toEqual(["found", [pid]]);
  expect(processes[0]?.read("LINEAGE_TEST")).toBe("yes");
});
