// The pool and the inbox alone, with a process that is only a name and a clock that the test moves.
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { AppServer, AppServerOrder } from "../../../src/backends/codex/app-server/process.ts";
import { CodexRun } from "../../../src/backends/codex/app-server/run.ts";
import { createState } from "../../../src/backends/codex/app-server/state.ts";
import { Inbox } from "../../../src/backends/inbox.ts";
import { Pool } from "../../../src/backends/pool.ts";
import { silentLog } from "../../../src/base/log.ts";
import { Recorder } from "../recorder.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

class FakeServer {
  isAlive = true;
  readonly calls: string[] = [];

  async stop(how: string): Promise<void> {
    this.isAlive = false;
    this.calls.push(`stop ${how}`);
  }
  hold(): void {
    this.calls.push("hold");
  }
  release(): void {
    this.calls.push("release");
  }
}

const order: AppServerOrder = { command: "codex", args: [], env: {}, maxLineBytes: 1, log: silentLog };

function setUp(lingerMs = 1000) {
  const servers: FakeServer[] = [];
  const start = async () => {
    const server = new FakeServer();
    servers.push(server);
    return server as unknown as AppServer;
  };
  return { pool: new Pool({ start, lingerMs }), servers };
}

describe("Pool", () => {
  test("a process outlives its last lease by the linger time, and no longer", async () => {
    const { pool, servers } = setUp();
    const [one, two] = await Promise.all([pool.acquire(order, false), pool.acquire(order, false)]);
    await one.release("finish");
    await vi.advanceTimersByTimeAsync(5000);
    expect(servers.map(({ isAlive }) => isAlive)).toEqual([true]);
    await two.release("finish");
    await vi.advanceTimersByTimeAsync(999);
    expect(servers.map(({ isAlive }) => isAlive)).toEqual([true]);
    await vi.advanceTimersByTimeAsync(1);
    expect(servers.map(({ isAlive }) => isAlive)).toEqual([false]);
  });

  test("a lease taken meanwhile keeps it, and releasing one twice counts once", async () => {
    const { pool, servers } = setUp();
    const first = await pool.acquire(order, false);
    await first.release("finish");
    const second = await pool.acquire(order, false);
    await first.release("finish");
    await vi.advanceTimersByTimeAsync(5000);
    expect(servers.map(({ isAlive }) => isAlive)).toEqual([true]);
    await second.release("finish");
    await vi.advanceTimersByTimeAsync(1000);
    expect(servers.map(({ isAlive }) => isAlive)).toEqual([false]);
  });

  test("a dead one is replaced, an exclusive one ends with its lease, another environment gets another", async () => {
    const { pool, servers } = setUp();
    await pool.acquire(order, false);
    servers.forEach((server) => {
      server.isAlive = false;
    });
    await pool.acquire(order, false);
    await pool.acquire({ ...order, env: { A: "1" } }, false);
    const own = await pool.acquire(order, true);
    await own.release("now");
    expect(servers.map(({ isAlive }) => isAlive)).toEqual([false, true, true, false]);
    expect(pool.running).toHaveLength(2);
    await pool.close();
    expect(servers.some(({ isAlive }) => isAlive)).toBe(false);
  });

  test("a failed start rejects for everyone who waited for it, and the next caller tries again", async () => {
    let isBroken = true;
    const start = async () => {
      if (isBroken) throw new Error("broken");
      return new FakeServer() as unknown as AppServer;
    };
    const pool = new Pool({ start, lingerMs: 1000 });
    const both = await Promise.allSettled([pool.acquire(order, false), pool.acquire(order, false)]);
    expect(both.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    isBroken = false;
    expect((await pool.acquire(order, false)).server.isAlive).toBe(true);
  });
});

describe("Inbox", () => {
  function inbox(maxBytes: number) {
    const heard: number[] = [];
    const full: boolean[] = [];
    const box = new Inbox<number>({
      deliver: (item) => heard.push(item),
      full: (isFull) => full.push(isFull),
      maxBytes,
    });
    return { box, heard, full };
  }

  test("delivers at once, or in order when it is resumed", () => {
    const { box, heard, full } = inbox(100);
    box.push(1, 10);
    box.pause();
    box.push(2, 10);
    box.push(3, 10);
    expect(heard).toEqual([1]);
    box.resume();
    expect([heard, full]).toEqual([[1, 2, 3], []]);
  });

  test("says once when it is full and once when it has room again", () => {
    const { box, full } = inbox(100);
    box.pause();
    for (let item = 0; item < 5; item += 1) box.push(item, 60);
    expect(full).toEqual([true]);
    box.resume();
    expect(full).toEqual([true, false]);
  });

  test("a consumer that pauses in the middle gets the rest later, once", () => {
    const heard: number[] = [];
    const box: Inbox<number> = new Inbox<number>({
      deliver: (item) => {
        heard.push(item);
        if (item === 2) box.pause();
        if (item === 1) box.push(4, 1);
      },
      full: () => undefined,
      maxBytes: 100,
    });
    box.pause();
    for (const item of [1, 2, 3]) box.push(item, 1);
    box.resume();
    expect(heard).toEqual([1, 2]);
    box.resume();
    expect(heard).toEqual([1, 2, 3, 4]);
  });
});

test("a paused session with too much in its inbox pauses the process, and releases it when it reads again", () => {
  const server = new FakeServer();
  const run = new CodexRun({
    lease: { server: server as unknown as AppServer, isOwn: false, release: async () => undefined },
    lane: {
      place: { number: 1, count: 0 },
      isQuiet: true,
      request: async () => undefined,
      call: () => undefined,
    },
    state: createState({ threadId: "t", options: {} }),
    sink: new Recorder(),
    log: silentLog,
    turnParams: {},
    reload: async () => undefined,
    retryLimitMs: 0,
    marker: "m",
    kept: { session_id: "s", generation: "g", threadParams: {} },
  });
  const message = {
    kind: "notification",
    method: "thread/queue/changed",
    params: { threadId: "t" },
  } as const;
  run.pause();
  run.deliver({ ...message, size: 10_000_000 });
  expect(server.calls).toEqual([]);
  run.deliver({ ...message, size: 10_000_000 });
  expect(server.calls).toEqual(["hold"]);
  run.resume();
  expect(server.calls).toEqual(["hold", "release"]);
});
