// Posting JSON: the time limit of a try. The retry rules are in test/sessions/notify.test.ts.
import { createServer, type Socket } from "node:net";
import { expect, test } from "vitest";
import { postJson } from "../../src/base/post-json.ts";

test("a server that accepts the connection and sends nothing is given up after the time limit, at every try", async () => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => void sockets.push(socket.on("error", () => undefined)));
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  try {
    const outcome = await postJson(
      new URL(`http://127.0.0.1:${address.port}/`),
      { a: 1 },
      { timeoutMs: 40, backoffMs: [1], userAgent: "test", signal: new AbortController().signal },
    );
    expect(outcome).toEqual({ ok: false, tries: 2, reason: "no answer within 40 ms" });
    expect(sockets).toHaveLength(2);
  } finally {
    for (const socket of sockets) socket.destroy();
    server.close();
  }
});

test("a server that switches protocols is a failure, not a wait", async () => {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => socket.write("HTTP/1.1 101 X\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"));
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  try {
    const outcome = await postJson(
      new URL(`http://127.0.0.1:${port}/`),
      { a: 1 },
      { timeoutMs: 5_000, backoffMs: [], userAgent: "test", signal: new AbortController().signal },
    );
    expect(outcome).toEqual({ ok: false, tries: 1, reason: "status 101" });
  } finally {
    server.close();
  }
});
