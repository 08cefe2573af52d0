// The loopback port over restarts of the built program, so that open tabs of the dashboard reconnect.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import { HttpClient } from "../../src/client/index.ts";
import { createKeptPort } from "../../src/daemon/kept-port.ts";
import { startDaemon, type TestDaemon } from "../support/daemon.ts";
import { PATIENT } from "../support/patience.ts";

async function start(home?: string): Promise<TestDaemon> {
  const daemon = await startDaemon(home === undefined ? {} : { home });
  onTestFinished(() => daemon.close());
  return daemon;
}

const fileOf = ({ home }: TestDaemon): string => join(home, "state/blemees/http-port");
const openPort = async ({ socket }: TestDaemon): Promise<number> =>
  (await new HttpClient({ socket }).webLink({ port: 0 })).port;

test("after a kill the next daemon opens the same port, with the same token", async () => {
  const first = await start();
  const port = await openPort(first);
  const token = readFileSync(join(first.home, "state/blemees/http-token"), "utf8").trim();
  expect(statSync(fileOf(first)).mode & 0o777).toBe(0o600);
  await first.kill("SIGKILL");
  const second = await start(first.home);
  await expect.poll(() => second.log(), PATIENT).toContain('"http.listen"');
  const reply = await fetch(`http://127.0.0.1:${port}/health`, {
    headers: { authorization: `Bearer ${token}` },
  });
  expect(reply.status).toBe(200);
});

test("after a stop, the next daemon opens no port by itself", async () => {
  const first = await start();
  await openPort(first);
  await first.kill("SIGTERM");
  expect(existsSync(fileOf(first))).toBe(false);
  const second = await start(first.home);
  // Before it answers this, it would have opened the port.
  await new HttpClient({ socket: second.socket }).sessions();
  expect(second.log()).not.toContain('"http.listen"');
});

test("a file that is missing or has no port in it is ignored, and one that cannot be written costs nothing", () => {
  const directory = mkdtempSync(join(tmpdir(), "blemees-port-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = join(directory, "http-port");
  const port = createKeptPort(file, silentLog);
  expect(port.read()).toBeUndefined();
  for (const text of ["", "0", "-1", "65536", "80 81", "0x50", "port"]) {
    writeFileSync(file, text);
    expect(port.read()).toBeUndefined();
  }
  port.keep(7433);
  expect(port.read()).toBe(7433);
  port.forget();
  port.forget();
  expect(port.read()).toBeUndefined();
  mkdirSync(`${file}.new`);
  port.keep(7433);
  expect(port.read()).toBeUndefined();
});
