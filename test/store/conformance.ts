// The contract of every durable store. Each driver runs it in this thread and through the worker; its own cases are in
// its own test file.
import { readdirSync, utimesSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Store } from "../../src/store/index.ts";
import { testLedger } from "./conformance-ledger.ts";
import { testRows } from "./conformance-rows.ts";
import { testRunMarks } from "./conformance-run-marks.ts";
import { append, batch, frame, frames, NO_LIMITS, readAll, request, row, tempDir, text } from "./material.ts";

export interface Opening {
  dir: string;
  now(): number;
}

export interface StoreUnderTest {
  open(opening: Opening): Promise<Store>;
  /** The worker uses the system clock, so ages cannot be tested through it. */
  hasTestClock: boolean;
}

export function testStore(name: string, { open, hasTestClock }: StoreUnderTest): void {
  testLedger(name, open);
  testRunMarks(name, open);
  testRows(name, open);
  const openFresh = async (opening: Partial<Opening> = {}): Promise<Store> => {
    const store = await open({ dir: tempDir(), now: Date.now, ...opening });
    onTestFinished(() => store.close());
    return store;
  };

  test(`${name}: appended frames are read back byte for byte`, async () => {
    const store = await openFresh();
    expect(await store.read("s", 0, 1_000)).toBeUndefined();
    await append(store, batch("s", 1, 3), batch("other", 1), batch("s", 4));
    const read = await store.read("s", 0, 100_000);
    expect(read).toMatchObject({ session_id: "s", first_seq: 1, last_seq: 4 });
    expect(text(read)).toBe(frames("s", 1, 4));
    expect(await readAll(store, "other")).toBe(frames("other", 1, 1));
  });

  test(`${name}: a read starts at exactly the first frame after after_seq, also inside a batch`, async () => {
    const store = await openFresh();
    await append(store, batch("s", 1, 10), batch("s", 11, 20));
    for (let after = 0; after < 20; after += 1) {
      const read = await store.read("s", after, 100_000);
      expect(read).toMatchObject({ first_seq: after + 1, last_seq: 20 });
      expect(text(read)).toBe(frames("s", after + 1, 20));
    }
    expect(await store.read("s", 20, 100_000)).toBeUndefined();
    expect(await store.read("s", 99, 100_000)).toBeUndefined();
  });

  test(`${name}: a read returns whole frames within max_bytes, and at least one`, async () => {
    const store = await openFresh();
    await append(store, batch("s", 1, 10), batch("s", 11, 20));
    const size = Buffer.byteLength(frame("s", 1));
    expect(text(await store.read("s", 0, 3 * size))).toBe(frames("s", 1, 3));
    expect(text(await store.read("s", 0, 4 * size - 1))).toBe(frames("s", 1, 3));
    expect(text(await store.read("s", 8, 4 * size))).toBe(frames("s", 9, 11));
    expect(text(await store.read("s", 4, 1))).toBe(frame("s", 5));
    expect(text(await store.read("s", 9, 0))).toBe(frame("s", 10));
    expect(await readAll(store, "s", 2)).toBe(frames("s", 3, 20));
  });

  test(`${name}: frames larger than any chunk come back whole`, async () => {
    const store = await openFresh();
    const large = "x".repeat(700_000);
    await append(store, batch("s", 1, 3), batch("s", 4, 6, large), batch("s", 7, 400));
    expect(text(await store.read("s", 3, 1_000))).toBe(frame("s", 4, large));
    expect(await readAll(store, "s", 4)).toBe(frames("s", 5, 6, large) + frames("s", 7, 400));
    expect(text(await store.read("s", 380, 100_000))).toBe(frames("s", 381, 400));
  });

  test(`${name}: U+2028, emoji and pooled buffers keep their bytes`, async () => {
    const store = await openFresh();
    const odd = "a\u2028b\u2029c 🜁 é \\u0000";
    const pooled = Buffer.from(frames("s", 1, 2, odd));
    await append(store, { session_id: "s", first_seq: 1, last_seq: 2, bytes: pooled });
    expect(Buffer.compare((await store.read("s", 0, 1_000))?.bytes ?? Buffer.alloc(0), pooled)).toBe(0);
    expect(pooled.toString()).toBe(frames("s", 1, 2, odd));
  });

  test(`${name}: a batch that leaves a gap or repeats a seq is refused, and the others are stored`, async () => {
    const store = await openFresh();
    await append(store, batch("s", 1, 3));
    const wrong = [batch("s", 3, 4), batch("s", 5), batch("s", 1, 3), batch("new", 2)];
    for (const bad of wrong) {
      const outcome = await store.append({
        batches: [bad, batch(`ok${wrong.indexOf(bad)}`, 1)],
        rows: [],
        sync: true,
      });
      expect(outcome).toEqual([expect.stringMatching(/does not follow/), undefined]);
    }
    expect(await readAll(store, "s")).toBe(frames("s", 1, 3));
    expect(await store.read("new", 0, 1_000)).toBeUndefined();
    await append(store, batch("s", 4));
    expect(await readAll(store, "s")).toBe(frames("s", 1, 4));
  });

  test(`${name}: a batch whose lines do not match its seqs is refused`, async () => {
    const store = await openFresh();
    const good = batch("s", 1, 2);
    const bad = [
      { ...good, last_seq: 3 },
      { ...good, last_seq: 1 },
      { ...good, bytes: good.bytes.subarray(0, -1) },
      { ...good, bytes: new Uint8Array(0) },
      { ...good, last_seq: 0 },
    ];
    const outcome = await store.append({ batches: bad, rows: [], sync: false });
    expect(outcome).toEqual(bad.map(() => expect.any(String)));
    await append(store, good);
  });

  test(`${name}: the oldest stored frame is known, also after retention and a restart`, async () => {
    const dir = tempDir();
    const before = await open({ dir, now: Date.now });
    expect(await before.earliest("s")).toBeUndefined();
    await before.saveRow(row("s", { last_seq: 40 }));
    expect(await before.earliest("s")).toBeUndefined();
    await append(before, batch("s", 41, 50), batch("other", 1), batch("s", 51, 60));
    expect(await before.earliest("s")).toBe(41);
    await before.prune({ ...NO_LIMITS, maxRowsPerSession: 12 });
    expect(await before.earliest("s")).toBe(49);
    await before.close();
    const after = await openFresh({ dir });
    expect([await after.earliest("s"), await after.earliest("other")]).toEqual([49, 1]);
    await after.delete("s");
    expect(await after.earliest("s")).toBeUndefined();
  });

  test(`${name}: a read says when its frames were stored`, async () => {
    const fromMs = Date.now();
    const store = await openFresh();
    await append(store, batch("s", 1, 3));
    await append(store, batch("s", 4, 6));
    const { stamps } = (await store.read("s", 1, 100_000)) ?? {};
    expect(stamps?.map(({ first_seq }) => first_seq)).toEqual([2, 4]);
    for (const { at_ms } of stamps ?? []) {
      expect(at_ms).toBeGreaterThanOrEqual(fromMs);
      expect(at_ms).toBeLessThanOrEqual(Date.now());
    }
  });

  test(`${name}: a row is saved with the last batch of its session and refused with it`, async () => {
    const store = await openFresh();
    const rows = [row("a", { turns: 1 }), row("b", { turns: 1 }), row("c", { turns: 1 })];
    const batches = [batch("a", 1, 2), batch("b", 7), batch("a", 3)];
    const outcome = await store.append({ batches, rows, sync: true });
    expect(outcome).toEqual([
      undefined,
      expect.any(String),
      undefined,
      undefined,
      expect.any(String),
      undefined,
    ]);
    expect(await store.loadRow("a")).toEqual(row("a", { turns: 1, last_seq: 3 }));
    expect(await store.loadRow("b")).toBeUndefined();
    expect(await store.loadRow("c")).toEqual(row("c", { turns: 1 }));
  });

  test(`${name}: rows come back as saved, newest first, with the last_seq of the log`, async () => {
    const store = await openFresh();
    await store.saveRow(row("old", { last_active_at_ms: 1, last_seq: 9, title: "läuft\u2028" }));
    await store.saveRow(row("young", { last_active_at_ms: 3, turn: { turn_id: "t", started_at_ms: 3 } }));
    await append(store, batch("young", 1, 5));
    await store.saveRow(row("young", { last_active_at_ms: 4, last_seq: 3 }));
    expect(await store.rows()).toEqual([
      row("young", { last_active_at_ms: 4, last_seq: 5 }),
      row("old", { last_active_at_ms: 1, last_seq: 9, title: "läuft\u2028" }),
    ]);
  });

  test(`${name}: a log without a row still knows where its seq continues`, async () => {
    const store = await openFresh();
    expect(await store.loadRow("s")).toBeUndefined();
    await append(store, batch("s", 1, 4));
    expect(await store.loadRow("s")).toMatchObject({ session_id: "s", last_seq: 4, turns: 0 });
  });

  test(`${name}: a session whose frames are gone continues after its row's last_seq`, async () => {
    const store = await openFresh();
    await store.saveRow(row("s", { last_seq: 41 }));
    const refused = await store.append({ batches: [batch("s", 1)], rows: [], sync: false });
    expect(refused).toEqual([expect.stringMatching(/last stored seq 41/)]);
    await append(store, batch("s", 42));
    expect(await readAll(store, "s")).toBe(frame("s", 42));
  });

  test(`${name}: delete removes the frames and the row of that session only`, async () => {
    const store = await openFresh();
    for (const id of ["a", "a.b", "ab"]) {
      await append(store, batch(id, 1, 2));
      await store.saveRow(row(id));
    }
    await store.delete("a");
    await store.delete("never-was");
    expect(await store.read("a", 0, 1_000)).toBeUndefined();
    expect((await store.rows()).map((found) => found.session_id).sort()).toEqual(["a.b", "ab"]);
    expect(await readAll(store, "a.b")).toBe(frames("a.b", 1, 2));
    await append(store, batch("a", 1));
  });

  test(`${name}: after a restart everything is still stored and seq continues`, async () => {
    const dir = tempDir();
    const before = await open({ dir, now: Date.now });
    await append(before, batch("s", 1, 5));
    await before.saveRow(row("s", { turns: 2 }));
    await before.close();
    const after = await openFresh({ dir });
    expect(await after.rows()).toEqual([row("s", { turns: 2, last_seq: 5 })]);
    const repeated = await after.append({ batches: [batch("s", 5)], rows: [], sync: false });
    expect(repeated).toEqual([expect.stringMatching(/does not follow/)]);
    await append(after, batch("s", 6));
    expect(await readAll(after, "s")).toBe(frames("s", 1, 6));
  });

  test(`${name}: close can be called twice, and later calls reject`, async () => {
    const store = await openFresh();
    await append(store, batch("s", 1));
    await store.close();
    await store.close();
    await expect(store.read("s", 0, 1)).rejects.toThrow(/closed|ended/);
  });

  test(`${name}: retention by rows keeps the newest frames and counts the removed ones`, async () => {
    const store = await openFresh();
    await append(store, batch("s", 1, 10), batch("s", 11, 20), batch("few", 1, 3));
    const counts = await store.prune({ ...NO_LIMITS, maxRowsPerSession: 7 });
    const gone = Buffer.byteLength(frames("s", 1, 13));
    expect(counts).toEqual({ sessions: 1, events: 13, bytes: gone, over_total: 0 });
    expect(text(await store.read("s", 0, 100_000))).toBe(frames("s", 14, 20));
    expect(text(await store.read("s", 16, 100_000))).toBe(frames("s", 17, 20));
    await append(store, batch("s", 21));
    expect(await readAll(store, "s", 19)).toBe(frames("s", 20, 21));
    expect(await store.prune({ ...NO_LIMITS, maxRowsPerSession: 8 })).toMatchObject({ events: 0 });
  });

  test(`${name}: retention by bytes keeps as many whole frames as fit`, async () => {
    const store = await openFresh();
    await append(store, batch("s", 1, 4), batch("s", 5, 9));
    const size = Buffer.byteLength(frame("s", 1));
    expect(await store.prune({ ...NO_LIMITS, maxBytesPerSession: 9 * size })).toMatchObject({ events: 0 });
    expect(await store.prune({ ...NO_LIMITS, maxBytesPerSession: 6 * size })).toMatchObject({ events: 3 });
    expect(await store.prune({ ...NO_LIMITS, maxBytesPerSession: 5 * size })).toMatchObject({ events: 1 });
    expect(await store.prune({ ...NO_LIMITS, maxBytesPerSession: 4 * size - 1 })).toMatchObject({
      events: 2,
    });
    expect(await readAll(store, "s")).toBe(frames("s", 7, 9));
  });

  test(`${name}: the newest frame survives every limit, and seq continues after a restart`, async () => {
    const dir = tempDir();
    const before = await open({ dir, now: Date.now });
    await append(before, batch("s", 1, 9));
    await before.prune({ ...NO_LIMITS, maxBytesPerSession: 1 });
    expect(await readAll(before, "s")).toBe(frame("s", 9));
    await before.close();
    const after = await openFresh({ dir });
    expect(await after.loadRow("s")).toMatchObject({ last_seq: 9 });
    await append(after, batch("s", 10));
    expect(await readAll(after, "s")).toBe(frames("s", 9, 10));
  });

  test(`${name}: a limit of 0 is no limit`, async () => {
    const store = await openFresh();
    await append(store, batch("s", 1, 9));
    expect(await store.prune(NO_LIMITS)).toEqual({ sessions: 0, events: 0, bytes: 0, over_total: 0 });
    expect(await readAll(store, "s")).toBe(frames("s", 1, 9));
  });

  test.runIf(hasTestClock)(
    `${name}: the total limit removes the oldest frames of all sessions, and only those`,
    async () => {
      let ageMs = 0;
      const dir = tempDir();
      const store = await openFresh({ dir, now: () => Date.now() + ageMs });
      const size = 100_000;
      const text = "x".repeat(size);
      const fill = async (session_id: string) => {
        for (let seq = 1; seq <= 5; seq += 1) {
          ageMs += 1000;
          await append(store, batch(session_id, seq, seq, text));
        }
        // A driver may go by the times of its files, which are too coarse for files written one after another.
        const files = readdirSync(dir, { recursive: true, encoding: "utf8" });
        const own = files.filter((path) => basename(path).startsWith(`${session_id}.`));
        for (const name of own) utimesSync(join(dir, name), ageMs / 1000, ageMs / 1000);
      };
      const turn = { turn_id: "t", started_at_ms: 0 };
      await store.saveRow(row("runs", { turn }));
      await fill("runs");
      await fill("asks");
      const open = request("asks", "r", { requested_at_ms: 0 });
      await store.append({ batches: [], rows: [], requests: [open], sync: false });
      for (const session_id of ["old", "middle", "young"]) await fill(session_id);
      expect(await store.prune({ ...NO_LIMITS, maxTotalBytes: 30 * size })).toMatchObject({ events: 0 });
      // There are 25 frames; 4 of `old` may be removed, then some of `middle`.
      const counts = await store.prune({ ...NO_LIMITS, maxTotalBytes: 19.5 * size });
      expect(counts.over_total).toBe(counts.events);
      expect(counts).toMatchObject({ sessions: 2 });
      const first = (session_id: string) => store.earliest(session_id);
      expect([await first("runs"), await first("asks"), await first("young")]).toEqual([1, 1, 1]);
      expect(await first("old")).toBe(5);
      expect([2, 3, 4]).toContain(await first("middle"));
      // However small the limit is, the newest frame of each session stays, and running turns stay whole.
      await store.prune({ ...NO_LIMITS, maxTotalBytes: 1 });
      for (const session_id of ["old", "middle", "young"]) expect(await first(session_id)).toBe(5);
      expect([await first("runs"), await first("asks")]).toEqual([1, 1]);
      expect(await store.request("asks", "r")).toMatchObject({ status: "pending" });
    },
  );

  test.runIf(hasTestClock)(`${name}: retention by age removes what is too old`, async () => {
    let ageMs = 0;
    const store = await openFresh({ now: () => Date.now() + ageMs });
    await append(store, batch("s", 1, 9));
    const limits = { ...NO_LIMITS, maxAgeMs: 86_400_000 };
    expect(await store.prune(limits)).toMatchObject({ events: 0 });
    ageMs = 2 * limits.maxAgeMs;
    expect(await store.prune(limits)).toMatchObject({ sessions: 1, events: 8 });
    expect(await readAll(store, "s")).toBe(frame("s", 9));
    expect(await store.prune(limits)).toMatchObject({ events: 0 });
  });
}
