// The cursor contract of a session's history: pages of stored events, and a notice for everything that is missing.
import { expect, test, vi } from "vitest";
import { EventsPage } from "../../src/protocol/views.ts";
import { SmallDisk, whyNoSmallDisk } from "../crash/small-disk.ts";
import { NO_LIMITS, tempDir } from "../store/material.ts";
import { FakeStore, settle } from "./fakes.ts";
import { delta, History, openStore, seqsOf, started, upTo } from "./history.ts";

test("pages from a cursor return every event once, in order, and give the next cursor", async () => {
  const history = await History.open("sqlite");
  for (let n = 0; n < 10; n += 1) await history.say(`${n} a`, `${n} b`, `${n} c`);
  const pages = await history.readAll(4, 7);
  expect(seqsOf(pages)).toEqual(upTo(30, 5));
  expect(pages.map(({ next_seq }) => next_seq)).toEqual([11, 18, 25, 30]);
  for (const page of pages) {
    EventsPage.parse(page);
    expect(page).toMatchObject({ earliest_seq: 1, latest_seq: 30, history_gap: false, gap_reason: null });
  }
  expect(pages[0]?.events[0]).toMatchObject({
    session_id: "s",
    seq: 5,
    persisted: true,
    type: "agent.delta",
    preview: "1 b",
    frame: { session_id: "s", seq: 5, ...delta("1 b") },
  });
});

test("a cursor at the end gets an empty page and stays the same", async () => {
  const history = await History.open("sqlite");
  expect(await history.read(0)).toEqual({
    events: [],
    earliest_seq: null,
    latest_seq: 0,
    next_seq: 0,
    history_gap: false,
    gap_reason: null,
  });
  await history.say("a", "b");
  expect(await history.read(2)).toMatchObject({
    events: [],
    next_seq: 2,
    earliest_seq: 1,
    history_gap: false,
  });
});

test("a cursor before the retained events gets the oldest page and an explicit gap", async () => {
  const before = await History.open("sqlite");
  for (let n = 0; n < 10; n += 1) await before.say("x", "y");
  await before.store.prune({ ...NO_LIMITS, maxRowsPerSession: 12 });
  const history = await before.restart();
  const old = await history.read(3, { limit: 4 });
  expect(seqsOf(old)).toEqual([9, 10, 11, 12]);
  expect(old).toMatchObject({ earliest_seq: 9, next_seq: 12, history_gap: true, gap_reason: "retention" });
  expect(await history.read(7)).toMatchObject({ history_gap: true });
  for (const cursor of [8, 12]) expect(await history.read(cursor)).toMatchObject({ history_gap: false });
  expect(seqsOf(await history.read(8))).toEqual(upTo(20, 9));
});

test("an event still in the ring is not missing, even if the log has pruned it", async () => {
  const history = await History.open("sqlite", { ringSize: 10 });
  await history.say(...upTo(10).map(String));
  await history.store.prune({ ...NO_LIMITS, maxRowsPerSession: 2 });
  expect(seqsOf(await history.read(0))).toEqual(upTo(10));
  for (const cursor of [0, 10]) {
    expect(await history.read(cursor)).toMatchObject({ earliest_seq: 1, history_gap: false });
  }
});

test("without a log there is only the ring, and what it lost is reported", async () => {
  const history = await History.open("memory", { ringSize: 4 });
  for (let n = 0; n < 10; n += 1) await history.say(String(n));
  const page = await history.read(2);
  expect(seqsOf(page)).toEqual([7, 8, 9, 10]);
  expect(page).toMatchObject({ earliest_seq: 7, history_gap: true, gap_reason: "retention" });
  expect(await history.read(6)).toMatchObject({ history_gap: false });
});

test("a cursor beyond the end (the history was lost) is reported, and reading starts at the oldest event", async () => {
  const history = await History.open("sqlite");
  expect(await history.read(50)).toMatchObject({ next_seq: 0, history_gap: true, gap_reason: "unknown" });
  await history.say("a", "b", "c");
  const page = await history.read(50, { limit: 2, waitMs: 60_000 });
  expect(seqsOf(page)).toEqual([1, 2]);
  expect(page).toMatchObject({ next_seq: 2, latest_seq: 3, history_gap: true, gap_reason: "unknown" });
});

test("a history that is gone although its row remembers it is reported, once", async () => {
  const store = await openStore("sqlite", tempDir());
  await store.saveRow({ ...(await History.open("memory")).stream.row, last_seq: 9 });
  const history = await History.open("sqlite", { store });
  const page = await history.read(2);
  expect(page).toEqual({
    events: [],
    earliest_seq: null,
    latest_seq: 9,
    next_seq: 9,
    history_gap: true,
    gap_reason: "unknown",
  });
  expect(await history.read(page.next_seq)).toMatchObject({ history_gap: false });
});

test("a hole in the log is reported, and so is a frame that cannot be read back", async () => {
  const store = new FakeStore();
  const history = await History.open("sqlite", { store, ringSize: 1 });
  for (let n = 1; n <= 6; n += 1) await history.say(String(n));
  store.log.splice(2, 1);
  expect(await history.read(0)).toMatchObject({ history_gap: true, gap_reason: "unknown" });
  expect(seqsOf(await history.read(0))).toEqual([1, 2, 4, 5, 6]);
  expect(await history.read(2)).toMatchObject({ earliest_seq: 1, history_gap: true, gap_reason: "unknown" });
  expect(await history.read(3)).toMatchObject({ history_gap: false });
  const damaged = store.log[2];
  if (damaged !== undefined) damaged.bytes = Buffer.from("{half\n");
  const page = await history.read(3);
  expect(seqsOf(page)).toEqual([5, 6]);
  expect(page).toMatchObject({ history_gap: true, gap_reason: "unknown", next_seq: 6 });
});

test("an unreadable log is an error, not an empty page; the ring serves what it has", async () => {
  const store = new FakeStore();
  const history = await History.open("sqlite", { store, ringSize: 2 });
  for (let n = 1; n <= 5; n += 1) await history.say(String(n));
  store.unreadable = true;
  await expect(history.read(0)).rejects.toThrow(/I\/O error/);
  expect(seqsOf(await history.read(3))).toEqual([4, 5]);
});

test("after a restart with 10,000 events an old cursor gets all of them, and one before the retained events a gap", async () => {
  const before = await History.open("sqlite", { ringSize: 1024 });
  for (let n = 0; n < 100; n += 1) await before.say(...upTo(100).map((at) => `${n} ${at}`));
  const history = await before.restart();
  const pages = await history.readAll(37, 500);
  expect(seqsOf(pages)).toEqual(upTo(10_000, 38));
  expect(pages.some(({ history_gap }) => history_gap)).toBe(false);
  await history.store.prune({ ...NO_LIMITS, maxRowsPerSession: 5_000 });
  const rest = await history.readAll(37, 500);
  expect(seqsOf(rest)).toEqual(upTo(10_000, 5_001));
  expect(rest.map(({ gap_reason }) => gap_reason)).toEqual(["retention", ...upTo(9).map(() => null)]);
});

test("a page of large frames ends early, has at least one, and gives the next cursor", async () => {
  const history = await History.open("sqlite");
  for (let n = 0; n < 6; n += 1) await history.say("x".repeat(1_500_000));
  const pages = await history.readAll(0, 100);
  expect(pages.map(({ events }) => events.length)).toEqual([3, 3]);
  expect(seqsOf(pages)).toEqual(upTo(6));
});

test("events that could not be stored are reported until the cursor has passed the marker", async () => {
  const history = await History.open("sqlite");
  await history.say("a", "b");
  history.failing = true;
  await history.say("lost 1");
  await history.say("lost 2");
  const degraded = await history.read(0);
  expect(seqsOf(degraded)).toEqual([1, 2]);
  expect(degraded).toMatchObject({ latest_seq: 2, next_seq: 2, gap_reason: "persistence_error" });
  expect(degraded).not.toHaveProperty("unpersisted");
  history.failing = false;
  await history.say("c");
  const page = await history.read(2);
  expect(page.events.map(({ seq, preview }) => [seq, preview])).toEqual([
    [3, "event_persist_recovered: 2 frames could not be stored and are missing from the history"],
    [4, "c"],
  ]);
  expect(page).toMatchObject({ history_gap: true, gap_reason: "persistence_error" });
  expect(await history.read(0, { limit: 1 })).toMatchObject({ gap_reason: "persistence_error" });
  expect(await history.read(3)).toMatchObject({ history_gap: false, gap_reason: null });
});

test("a gap from an earlier daemon is reported by its marker", async () => {
  const before = await History.open("sqlite");
  await before.say("a");
  before.failing = true;
  await before.say("lost");
  before.failing = false;
  // No further events: the shutdown itself writes the marker.
  const history = await before.restart();
  await history.say("b");
  expect(await history.read(0)).toMatchObject({ gap_reason: "persistence_error", latest_seq: 3 });
  expect(await history.read(1)).toMatchObject({ gap_reason: "persistence_error" });
  expect(await history.read(2)).toMatchObject({ history_gap: false });
});

test("on request the lost events are included, without seq, if they are after the cursor and in memory", async () => {
  const history = await History.open("sqlite");
  await history.say("a");
  history.failing = true;
  await history.publish(started("t1"), delta("lost"));
  history.failing = false;
  await history.say("b");
  const page = await history.read(0, { include_unpersisted: true });
  EventsPage.parse(page);
  expect(page.unpersisted).toMatchObject([
    { seq: null, persisted: false, type: "agent.notice", turn_id: "t1", timestamp_ms: expect.any(Number) },
    {
      seq: null,
      persisted: false,
      turn_id: "t1",
      preview: "lost",
      frame: { persisted: false, ...delta("lost") },
    },
  ]);
  expect((await history.read(2, { include_unpersisted: true })).unpersisted).toEqual([]);
  history.failing = true;
  for (let n = 0; n < 300; n += 1) await history.say(`flood ${n}`);
  const { unpersisted } = await history.read(0, { include_unpersisted: true });
  expect(unpersisted?.map(({ preview }) => preview)).toEqual(upTo(299, 44).map((n) => `flood ${n}`));
});

test.skipIf(whyNoSmallDisk() !== undefined)(
  "on a disk that is really full, no event is lost silently",
  async () => {
    const disk = new SmallDisk();
    const history = await History.open("sqlite", { dir: disk.dir });
    try {
      await history.say("a", "b");
      disk.fill();
      for (let n = 0; n < 40; n += 1) await history.say("x".repeat(10_000));
      const lost = history.ear.heard.filter((frame) => frame["persisted"] === false).length;
      expect(lost).toBeGreaterThan(0);
      expect(await history.read(0)).toMatchObject({ history_gap: true, gap_reason: "persistence_error" });
      disk.free();
      await history.say("c");
      const pages = await history.readAll(0);
      expect(seqsOf(pages)).toEqual(upTo(history.stream.last_seq));
      expect(seqsOf(pages)).toEqual(history.ear.seqs);
      const told = pages
        .flatMap(({ events }) => events)
        .map(({ frame }) => (frame["data"] as { lost?: number })?.lost ?? 0);
      expect(told.reduce((sum, n) => sum + n, 0)).toBe(lost);
    } finally {
      await history.store.close();
      disk.close();
    }
  },
);

test("a wait ends with the first event after the cursor", async () => {
  const history = await History.open("sqlite");
  await history.say("a");
  const waiting = history.read(1, { waitMs: 60_000 });
  await settle();
  await history.say("b");
  expect(seqsOf(await waiting)).toEqual([2]);
  expect(seqsOf(await history.read(0, { waitMs: 60_000 }))).toEqual([1, 2]);
});

test("a wait ends with an event that could not be stored, and says so", async () => {
  const history = await History.open("sqlite");
  await history.say("a");
  const waiting = history.read(1, { waitMs: 60_000 });
  history.failing = true;
  await history.say("lost");
  expect(await waiting).toMatchObject({ events: [], next_seq: 1, gap_reason: "persistence_error" });
});

test("a known gap is reported after a short delay, so that a polling reader does not spin", async () => {
  const history = await History.open("sqlite");
  history.failing = true;
  await history.say("lost");
  vi.useFakeTimers();
  try {
    const answered = vi.fn();
    void history.read(0, { waitMs: 60_000 }).then(answered);
    await vi.advanceTimersByTimeAsync(900);
    expect(answered).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(200);
    expect(answered).toHaveBeenCalledWith(expect.objectContaining({ gap_reason: "persistence_error" }));
  } finally {
    vi.useRealTimers();
  }
});

test("a wait ends on timeout, when it is aborted, and when the stream is closed", async () => {
  const history = await History.open("sqlite");
  await history.say("a");
  const empty = { events: [], next_seq: 1, history_gap: false };
  expect(await history.read(1, { waitMs: 1 })).toMatchObject(empty);
  const abort = new AbortController();
  const aborted = history.read(1, { waitMs: 60_000, signal: abort.signal });
  abort.abort();
  expect(await aborted).toMatchObject(empty);
  expect(await history.read(1, { waitMs: 60_000, signal: abort.signal })).toMatchObject(empty);
  const closed = history.read(1, { waitMs: 60_000 });
  history.stream.close();
  expect(await closed).toMatchObject(empty);
});

test("times come from the ring and from the database", async () => {
  const fromMs = Date.now();
  const before = await History.open("sqlite", { ringSize: 2 });
  for (const text of ["a", "b", "c"]) await before.say(text);
  const history = await before.restart();
  await history.say("d");
  const times = (await history.read(0)).events.map(({ timestamp_ms }) => timestamp_ms);
  expect(times).toHaveLength(4);
  for (const at of times) expect(at !== null && at >= fromMs && at <= Date.now()).toBe(true);
});
