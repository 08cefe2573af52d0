// What waits for one socket: bounded by its users, never awaited.

import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { describe, expect, test, vi } from "vitest";
import { Outbox } from "../../src/base/outbox.ts";

/** A socket that takes bytes only when the test says so. */
function stuckSocket(): { socket: Socket; chunks: string[]; take(): void } {
  const waiting: (() => void)[] = [];
  const chunks: string[] = [];
  const socket = new Duplex({
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
  return { socket: socket as unknown as Socket, chunks, take: () => waiting.shift()?.() };
}

const tick = () => new Promise((resolve) => setImmediate(resolve));

describe("an outbox", () => {
  test("writes of one tick go out together, in order", async () => {
    const { socket, chunks } = stuckSocket();
    const outbox = new Outbox(socket, 100, { drained: () => undefined });
    for (const text of ["a", "b", "c"]) outbox.write(text);
    expect(chunks).toEqual([]);
    await tick();
    expect(chunks).toEqual(["abc"]);
  });

  test("is full above its limit, and tells once when there is room again", async () => {
    const { socket, take } = stuckSocket();
    const drained = vi.fn();
    const outbox = new Outbox(socket, 10, { drained });
    outbox.write("x".repeat(10));
    expect(outbox.isFull).toBe(false);
    outbox.write("y");
    expect(outbox.isFull).toBe(true);
    await tick();
    take();
    await tick();
    expect(outbox.isFull).toBe(false);
    expect(drained).toHaveBeenCalledTimes(1);
  });

  test("counts as stalled only while it is full and nothing gets away", async () => {
    const { socket, take } = stuckSocket();
    const outbox = new Outbox(socket, 10, { drained: () => undefined });
    outbox.write("short");
    expect(outbox.stalledMs(Date.now() + 60_000)).toBe(0);
    outbox.write("x".repeat(20));
    expect(outbox.stalledMs(Date.now() + 60_000)).toBeGreaterThan(59_000);
    await tick();
    take();
    await tick();
    expect(outbox.stalledMs(Date.now() + 60_000)).toBe(0);
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
