// The path from the Unix socket to a server that cannot be loaded.
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { silentLog } from "../../../src/base/log.ts";
import { createHttpDoor } from "../../../src/servers/http/door.ts";
import type { HttpContext, HttpLimits } from "../../../src/servers/http/types.ts";
import { LOCAL } from "../../../src/sessions/index.ts";
import { untilClosed } from "./world.ts";

test("a server that cannot be loaded is a reply that says so, and is tried again for the next client", async () => {
  const home = mkdtempSync(join(tmpdir(), "bl-door-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const logged: unknown[] = [];
  const log = { ...silentLog, error: (event: string, fields?: unknown) => void logged.push([event, fields]) };
  let tries = 0;
  const door = createHttpDoor({ log } as unknown as HttpContext, {} as HttpLimits, () => {
    tries += 1;
    return Promise.reject(new Error("a file is missing"));
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
