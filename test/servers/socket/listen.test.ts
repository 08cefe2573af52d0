// The socket's file: removed with its own listener, and never by that of another daemon.
import { existsSync, mkdtempSync, rmSync, unlinkSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { silentLog } from "../../../src/base/log.ts";
import type { HttpDoor } from "../../../src/servers/http/index.ts";
import { listenOnSocket, type SocketListening } from "../../../src/servers/socket/listen.ts";
import type { ServerContext } from "../../../src/servers/types.ts";
import { gate, settle } from "../../sessions/fakes.ts";
import { PATIENT } from "../../support/patience.ts";

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "bl-listen-"));
  path = join(directory, "d.sock");
  // A test's thread may not set it.
  vi.spyOn(process, "umask").mockReturnValue(0o022);
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(directory, { recursive: true });
});

function listen(http?: HttpDoor, helloTimeoutMs = 5_000): Promise<SocketListening> {
  const limits = { maxLineBytes: 1024, outboxBytes: 1024, helloTimeoutMs };
  const context = { hub: { detach: () => undefined }, log: silentLog } as unknown as ServerContext;
  return listenOnSocket({ path, maxConnections: 10, slowConsumerMs: 30_000, ...limits }, context, http);
}

function isAnswered(): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(path);
    probe.once("connect", () => {
      probe.destroy();
      resolve(true);
    });
    probe.once("error", () => resolve(false));
  });
}

test("is removed when its listener is closed", async () => {
  const listening = await listen();
  expect(await isAnswered()).toBe(true);
  await listening.close();
  expect(existsSync(path)).toBe(false);
});

test("stays if another daemon has bound it in the meantime", async () => {
  const first = await listen();
  unlinkSync(path);
  const second = await listen();
  await first.close();
  expect(await isAnswered()).toBe(true);
  await second.close();
});

test("stays until the HTTP server is closed, and what is bound after that is not removed", async () => {
  const { open, passed } = gate();
  const door = { take: () => undefined, dismiss: () => undefined, close: () => passed };
  const first = await listen(door);
  const closing = first.close();
  await settle();
  expect(await isAnswered()).toBe(true);
  open();
  await vi.waitFor(() => expect(existsSync(path)).toBe(false), PATIENT);
  const second = await listen();
  await closing;
  expect(await isAnswered()).toBe(true);
  await second.close();
});

test.each(["the hello timeout", "a shutdown"])(
  "%s does not refuse a request that waits to be read",
  async (what) => {
    const taken: string[] = [];
    const door: HttpDoor = {
      take: (socket, first) => {
        taken.push(first.toString());
        socket.end();
      },
      dismiss: () => undefined,
      close: async () => undefined,
    };
    const helloTimeoutMs = what === "a shutdown" ? 60_000 : 1_000;
    const listening = await listen(door, helloTimeoutMs);
    const client = connect(path);
    let reply = "";
    client.on("data", (bytes) => {
      reply += bytes;
    });
    const ended = new Promise((resolve) => client.once("close", resolve));
    await new Promise((resolve) => client.once("connect", resolve));
    await settle();
    if (what === "a shutdown") listening.dismiss();
    client.write("GET / HTTP/1.1\r\n\r\n");
    // As after a SIGSTOP: the timers are due before anything is read.
    const untilMs = Date.now() + 1_200;
    while (Date.now() < untilMs);
    await ended;
    expect({ taken, reply }).toEqual({ taken: ["GET / HTTP/1.1\r\n\r\n"], reply: "" });
    await listening.close();
  },
);

test("of two daemons that start at the same time, one is refused with the reason", async () => {
  const both = await Promise.allSettled([listen(), listen()]);
  const refused = both.flatMap((one) => (one.status === "rejected" ? [String(one.reason)] : []));
  expect(refused).toEqual([expect.stringContaining(`another blemeesd is running on ${path}`)]);
  for (const one of both) if (one.status === "fulfilled") await one.value.close();
});
