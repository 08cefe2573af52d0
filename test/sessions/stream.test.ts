// What a stream keeps of frames that could not be stored, and how it recovers.
import { expect, test, vi } from "vitest";
import { History } from "./history.ts";

test("lost events are dropped ten minutes after the log recovered; the fact that they were lost is not", async () => {
  vi.useFakeTimers();
  try {
    const history = await History.open("memory");
    history.failing = true;
    Object.assign(history.store, { durable: true });
    await history.say("lost");
    history.failing = false;
    await history.say("b");
    expect((await history.read(0, { include_unpersisted: true })).unpersisted).toHaveLength(1);
    vi.advanceTimersByTime(600_000);
    const page = await history.read(0, { include_unpersisted: true });
    expect(page).toMatchObject({ unpersisted: [], gap_reason: "persistence_error" });
  } finally {
    vi.useRealTimers();
  }
});

test("a session without further events writes its marker on its own once the log accepts it", async () => {
  vi.useFakeTimers();
  try {
    const history = await History.open("memory");
    Object.assign(history.store, { durable: true });
    await history.say("a");
    history.failing = true;
    await history.say("lost");
    expect(history.stream.isOwed).toBe(true);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(history.stream.last_seq).toBe(1);
    history.failing = false;
    await vi.advanceTimersByTimeAsync(30_000);
    expect(history.ear.heard.at(-1)).toMatchObject({ seq: 2, category: "event_persist_recovered" });
    expect(history.stream.isOwed).toBe(false);
    // Compared in one tick: earlier tests of this worker may have timers of their own.
    const before = vi.getTimerCount();
    history.stream.close();
    expect(vi.getTimerCount()).toBe(before - 1); // the timer that expires lost frames
  } finally {
    vi.useRealTimers();
  }
});

test("after a long failure, the next loss is reported as soon as after a short one", async () => {
  vi.useFakeTimers();
  try {
    const history = await History.open("memory");
    Object.assign(history.store, { durable: true });
    history.failing = true;
    await history.say("lost");
    await vi.advanceTimersByTimeAsync(20_000);
    history.failing = false;
    await history.say("stored");
    history.failing = true;
    await history.say("lost too");
    history.failing = false;
    const { last_seq } = history.stream;
    await vi.advanceTimersByTimeAsync(2_000);
    expect(history.ear.heard.at(-1)).toMatchObject({
      seq: last_seq + 1,
      category: "event_persist_recovered",
      data: { lost: 1 },
    });
    history.stream.close();
  } finally {
    vi.useRealTimers();
  }
});
