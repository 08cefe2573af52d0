import { spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { readLineage, readStartTime } from "../../src/base/lineage.ts";
import { findInodes, findSocketOwners } from "../../src/base/tcp-owner.ts";

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
  expect(readLineage(undefined)).toEqual({ state: "unknown", processes: [] });
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
  expect(await findSocketOwners(end)).toContain(process.pid);
  client.destroy();
  await once(client, "close");
  expect(await findSocketOwners(end)).toEqual([]);
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
  expect(findInodes(table, { port: 50_001, otherPort: 7433 })).toEqual(["33", "44"]);
  expect(findInodes(table, { port: 50_000, otherPort: 7433 })).toEqual([]);
  expect(findInodes(table, { port: 50_001, otherPort: 7434 })).toEqual([]);
});
