// What waits for one socket: bounded by its users, never awaited.

import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { describe, expect, test, vi } from "vitest";
import { Outbox } from "../../src/base/outbox.ts";

/** A socket that takes bytes only when the test says so. */
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
  // As net.Socket has it: all that was ever given to it.
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

  test("is full above its limit, and tells once when there is room again", async () => {
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

  test("counts as stalled only while it is full and nothing gets away", () => {
    const { socket, take } = stuckSocket();
    const outbox = new Outbox(socket, 10, { drained: () => undefined });
    outbox.write("short");
    expect([outbox.stalledMs(1000), outbox.stalledMs(61_000)]).toEqual([0, 0]);
    outbox.write("x".repeat(20));
    outbox.write("y".repeat(20));
    expect([outbox.stalledMs(62_000), outbox.stalledMs(92_000)]).toEqual([1000, 31_000]);
    take();
    expect([outbox.stalledMs(93_000), outbox.stalledMs(94_000)]).toEqual([0, 1000]);
  });

  test("tells nothing once it is closed, and leaves no listener on the socket", async () => {
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

  test("a socket that is gone takes nothing and throws nothing", async () => {
    const { socket, chunks } = stuckSocket();
    const outbox = new Outbox(socket, 10, { drained: () => undefined });
    socket.destroy();
    outbox.write("late");
    await tick();
    expect(chunks).toEqual([]);
  });
});
