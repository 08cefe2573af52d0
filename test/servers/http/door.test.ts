// The path from the Unix socket to a server that cannot be loaded.
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { silentLog } from "../../../src/base/log.ts";
import { createHttpDoor, type HttpDoor } from "../../../src/servers/http/door.ts";
import type { HttpContext, HttpLimits } from "../../../src/servers/http/types.ts";
import { LOCAL } from "../../../src/sessions/index.ts";
import { untilClosed } from "./world.ts";

test("a server that cannot be loaded is a reply that says so, and is tried again for the next client", async () => {
  const home = mkdtempSync(join(tmpdir(), "bl-door-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const logged: unknown[] = [];
  const log = { ...silentLog, error: (event: string, fields?: unknown) => void logged.push([event, fields]) };
  let tries = 0;
  const door = createHttpDoor({ log } as unknown as HttpContext, {} as HttpLimits, {
    load: () => {
      tries += 1;
      return Promise.reject(new Error("a file is missing"));
    },
  });
  const server = createServer((socket) => {
    socket.once("data", (first: Buffer) => door.take(socket, first, () => LOCAL));
  });
  onTestFinished(() => void server.close());
  server.listen(join(home, "s"));
  await once(server, "listening");
  for (const round of [1, 2]) {
    const client = connect(join(home, "s"));
    const reply = untilClosed(client);
    client.write("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
    const text = await reply;
    expect(text).toMatch(
      /^HTTP\/1\.1 500 .*content-security-policy.*"code":"internal".*could not be loaded/s,
    );
    expect(tries).toBe(round);
  }
  expect(logged).toEqual(Array(2).fill(["http.load_failed", { message: "a file is missing" }]));
  await door.close();
});

test("the server is not loaded before what is more urgent", async () => {
  let finish: () => void = () => undefined;
  const after = new Promise<void>((resolve) => {
    finish = resolve;
  });
  let tries = 0;
  const load = () => {
    tries += 1;
    return Promise.reject(new Error("a file is missing"));
  };
  const door = createHttpDoor({ log: silentLog } as unknown as HttpContext, {} as HttpLimits, {
    load,
    after,
  });
  const { client, reply } = await connectTo(door);
  await new Promise((resolve) => setImmediate(resolve));
  expect(tries).toBe(0);
  finish();
  expect(await reply).toMatch(/^HTTP\/1\.1 500 /);
  expect(tries).toBe(1);
  client.destroy();
  await door.close();
});

async function connectTo(door: HttpDoor): Promise<{ client: Socket; reply: Promise<string> }> {
  const home = mkdtempSync(join(tmpdir(), "bl-door-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  let taken: () => void = () => undefined;
  const isTaken = new Promise<void>((resolve) => {
    taken = resolve;
  });
  const server = createServer((socket) => {
    socket.once("data", (first: Buffer) => {
      door.take(socket, first, () => LOCAL);
      taken();
    });
  });
  onTestFinished(() => void server.close());
  server.listen(join(home, "s"));
  await once(server, "listening");
  const client = connect(join(home, "s"));
  const reply = untilClosed(client);
  client.write("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await isTaken;
  return { client, reply };
}
