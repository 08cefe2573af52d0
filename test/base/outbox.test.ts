// Data waiting for one socket: bounded by its users, never awaited.

import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { describe, expect, test, vi } from "vitest";
import { Outbox, StallDetector } from "../../src/base/outbox.ts";

/** A socket that takes bytes only when the test allows it. */
function stuckSocket(): { socket: Socket; chunks: string[]; take(): void } {
  const waiting: (() => void)[] = [];
  const chunks: string[] = [];
  let taken = 0;
  const socket = new Duplex({
    writableHighWaterMark: 5,
    read: () => undefined,
    write: (chunk: Buffer, _encoding, done) => {
      chunks.push(chunk.toString());
      waiting.push(done);
    },
    writev: (parts, done) => {
      chunks.push(parts.map(({ chunk }) => String(chunk)).join(""));
      waiting.push(done);
    },
  });
  // As in net.Socket: all bytes ever written.
  Object.defineProperty(socket, "bytesWritten", { get: () => taken + socket.writableLength });
  const take = () => {
    const before = socket.writableLength;
    waiting.shift()?.();
    taken += before - socket.writableLength;
  };
  return { socket: socket as unknown as Socket, chunks, take };
}

const tick = () => new Promise((resolve) => setImmediate(resolve));

describe("an outbox", () => {
  test("writes at once and in order", () => {
    const { socket, chunks, take } = stuckSocket();
    const outbox = new Outbox(socket, 100, { drained: () => undefined });
    for (const text of ["a", "b", "c"]) outbox.write(text);
    expect(chunks).toEqual(["a"]);
    take();
    expect(chunks).toEqual(["a", "bc"]);
  });

  test("is full above its limit, and reports once when there is room again", async () => {
    const { socket, take } = stuckSocket();
    const drained = vi.fn();
    const outbox = new Outbox(socket, 10, { drained });
    outbox.write("x".repeat(10));
    expect(outbox.isFull).toBe(false);
    outbox.write("y");
    expect(outbox.isFull).toBe(true);
    take();
    take();
    await tick();
    expect(outbox.isFull).toBe(false);
    expect(drained).toHaveBeenCalledTimes(1);
  });

  test("reports nothing after it is closed, and leaves no listener on the socket", async () => {
    const { socket, take } = stuckSocket();
    const drained = vi.fn();
    const outbox = new Outbox(socket, 10, { drained });
    outbox.write("x".repeat(11));
    outbox.close();
    expect(socket.listenerCount("drain")).toBe(0);
    take();
    await tick();
    expect([outbox.isFull, drained.mock.calls.length]).toEqual([false, 0]);
  });

  test("a closed socket takes nothing and throws nothing", async () => {
    const { socket, chunks } = stuckSocket();
    const outbox = new Outbox(socket, 10, { drained: () => undefined });
    socket.destroy();
    outbox.write("late");
    await tick();
    expect(chunks).toEqual([]);
  });
});

test("a socket is stalled when too much waits and nothing is taken for several checks", () => {
  const { socket, take } = stuckSocket();
  const stalls = new StallDetector(2, 10);
  const check = () => stalls.isStalled(socket);
  socket.write("short");
  expect([check(), check(), check()]).toEqual([false, false, false]);
  socket.write("x".repeat(20));
  socket.write("y".repeat(20));
  expect([check(), check()]).toEqual([false, true]);
  take();
  expect([check(), check(), check()]).toEqual([false, false, true]);
});
