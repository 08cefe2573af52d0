// The first frames of a connection.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { silentLog } from "../../../src/base/log.ts";
import { listenOnSocket } from "../../../src/servers/socket/index.ts";
import type { ServerContext } from "../../../src/servers/types.ts";
import { startDaemon } from "../../support/daemon.ts";
import { RawClient } from "../../support/raw-client.ts";
import { checkOutbound } from "../../support/schemas.ts";
import { ask, barrier, claudeFound, newId, useDaemon } from "./talk.ts";

const daemon = useDaemon();
const HELLO = { type: "blemeesd.hello", client: "test/1", protocol: "blemees/2" };

const connect = () => RawClient.connect(daemon.current.socket);

describe("hello", () => {
  test("is answered with the daemon, its pid, the protocol and the agents it found", async () => {
    await claudeFound(await daemon.connect());
    const client = await connect();
    client.send(HELLO);
    expect(await client.next("blemeesd.hello_ack")).toEqual({
      type: "blemeesd.hello_ack",
      daemon: expect.stringMatching(/^blemeesd\/\d+\.\d+\.\d+/),
      protocol: "blemees/2",
      pid: daemon.current.pid,
      backends: { claude: "2.1.197" },
    });
    client.close();
  });

  test("frames right after it are answered after the ack, in order, including bad ones", async () => {
    const client = await connect();
    const lines = [
      JSON.stringify(HELLO),
      '{"type":"blemeesd.ping"}',
      "garbage",
      '{"type":"blemeesd.status"}',
    ];
    client.sendRaw(`${lines.join("\n")}\n`);
    await client.next("blemeesd.status_reply");
    expect(client.frames.map((frame) => frame.type)).toEqual([
      "blemeesd.hello_ack",
      "blemeesd.pong",
      "blemeesd.error",
      "blemeesd.status_reply",
    ]);
    checkOutbound(client.frames);
    client.close();
  });

  test("may come byte by byte", async () => {
    const client = await connect();
    for (const byte of Buffer.from(`${JSON.stringify(HELLO)}\n`)) client.sendRaw(Buffer.from([byte]));
    expect((await client.next("blemeesd.hello_ack"))["protocol"]).toBe("blemees/2");
    client.close();
  });

  test("sent a second time is invalid_message, and the connection stays", async () => {
    const client = await daemon.connect();
    client.send(HELLO);
    expect(await client.next("blemeesd.error")).toMatchObject({ code: "invalid_message" });
    await barrier(client);
  });
});

describe("a first frame that is no good closes the connection", () => {
  test.each([
    [{ ...HELLO, protocol: "blemees/3" }, "protocol_mismatch"],
    [{ ...HELLO, protocol: "" }, "protocol_mismatch"],
    [{ ...HELLO, protocol: 2 }, "invalid_message"],
    [{ type: "blemeesd.hello" }, "invalid_message"],
    [{ ...HELLO, extra: true }, "invalid_message"],
    [{ type: "blemeesd.ping" }, "invalid_message"],
    [{ type: "blemeesd.open", session_id: "s", backend: "demo", options: {} }, "invalid_message"],
  ])("%j → %s", async (frame, code) => {
    const client = await connect();
    client.send(frame);
    client.send({ type: "blemeesd.ping" });
    await client.closed;
    expect(client.frames).toMatchObject([{ type: "blemeesd.error", code }]);
    checkOutbound(client.frames);
  });

  test.each(["garbage\n", "\n", "[]\n", "\u0000\n", "get / HTTP/1.1\r\n\r\n"])(
    "%j → invalid_message",
    async (text) => {
      const client = await connect();
      client.sendRaw(text);
      await client.closed;
      expect(client.frames).toMatchObject([{ type: "blemeesd.error", code: "invalid_message" }]);
    },
  );

  test("the mismatch names the daemon's protocols", async () => {
    const client = await connect();
    client.send({ ...HELLO, protocol: "blemees/9" });
    expect((await client.next("blemeesd.error"))["message"]).toBe(
      'this daemon speaks blemees/2 and blemees/1, not "blemees/9"',
    );
    await client.closed;
  });
});

test.each(["", "{"])("a client that sends %j and no hello gets an error and is dropped", async (text) => {
  const directory = mkdtempSync(join(tmpdir(), "blemees-hello-"));
  const path = join(directory, "s.sock");
  const context = { hub: { detach: () => undefined }, log: silentLog } as unknown as ServerContext;
  const limits = { maxLineBytes: 999, outboxBytes: 999, helloTimeoutMs: 20, slowConsumerMs: 60_000 };
  // A worker of the tests cannot have a umask of its own.
  vi.spyOn(process, "umask").mockReturnValue(0o22);
  const listening = await listenOnSocket({ path, maxConnections: 8, ...limits }, context);
  const client = await RawClient.connect(path);
  if (text !== "") client.sendRaw(text);
  await client.closed;
  expect(client.frames).toMatchObject([
    { type: "blemeesd.error", code: "invalid_message", message: "no blemeesd.hello within 0.02 s" },
  ]);
  await listening.close();
  vi.restoreAllMocks();
  rmSync(directory, { recursive: true });
});

test("without a real agent the demo is shown, and its sessions work", async () => {
  const bare = await startDaemon({ env: { BLEMEESD_CLAUDE: "/nowhere/claude" } });
  try {
    const client = await bare.connect();
    expect(client.frames[0]?.["backends"]).toEqual({ demo: expect.any(String) });
    expect(await client.open("s")).toMatchObject({ type: "blemeesd.error", code: "spawn_failed" });
    expect(await ask(client, "open", { session_id: "s", backend: "demo", options: {} })).toMatchObject({
      type: "blemeesd.opened",
    });
  } finally {
    await bare.close();
  }
});

test("a client that half-closes still gets the replies to what it wrote", async () => {
  const client = await connect();
  const open = { type: "blemeesd.open", id: "o", session_id: newId(), backend: "demo", options: {} };
  for (const frame of [HELLO, open, { type: "blemeesd.ping", id: "p" }]) client.send(frame);
  client.socket.end();
  await client.closed;
  const replies = client.frames.filter((frame) => frame.type.startsWith("blemeesd."));
  expect(replies.map((frame) => frame.type).sort()).toEqual([
    "blemeesd.hello_ack",
    "blemeesd.opened",
    "blemeesd.pong",
  ]);
});
