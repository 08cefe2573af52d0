// A disk that fails under the journal: what is acknowledged is stored, what is not leaves no trace.
import { expect, onTestFinished, test, vi } from "vitest";
import { CodedError } from "../../../src/base/coded-error.ts";
import { Journal } from "../../../src/store/journal/journal.ts";
import { createJournaledStore, type FoldingThread } from "../../../src/store/journal/store.ts";
import { type Call, FakeDisk, type Fault } from "../disk/fake-disk.ts";
import { append, batch, frames, MARKED, mark, marked, readAll, request, row } from "../material.ts";
import { FIRST_FILE, firstLife, openWorld, type World } from "./world.ts";

async function openWithOne(maxFileBytes?: number): Promise<World> {
  const world = await openWorld(firstLife(maxFileBytes));
  await append(world.store, batch("s", 1));
  return world;
}

function failing(...calls: Call[]): (call: Call) => Fault | undefined {
  return (call) => (calls.includes(call) ? { errno: "EIO", part: 9 } : undefined);
}

async function tryAppend({ store }: World, seq: number, sync = false): Promise<(string | undefined)[]> {
  return store.append({ batches: [batch("s", seq)], rows: [row("s", { turns: seq })], sync });
}

test.each<[string, Fault]>([
  ["shortened without an error", { part: 16 }],
  ["cut off by ENOSPC", { part: 16, errno: "ENOSPC" }],
  ["refused", { errno: "EROFS" }],
])("a write that is %s fails every part of the order and leaves nothing", async (_name, fault) => {
  const world = await openWithOne();
  const before = world.disk.content(FIRST_FILE);
  world.disk.fault = (call) => (call === "writeSync" ? fault : undefined);
  expect(await tryAppend(world, 2)).toEqual([expect.any(String), expect.any(String)]);
  expect(world.disk.content(FIRST_FILE)).toBe(before);
  world.disk.fault = () => undefined;
  expect(await tryAppend(world, 2)).toEqual([undefined, undefined]);
  expect(await readAll(world.store, "s")).toBe(frames("s", 1, 2));
});

test("a journal that cannot even be truncated is replaced by a new file, and its bad end never returns", async () => {
  const world = await openWithOne();
  world.disk.fault = failing("writeSync", "ftruncateSync");
  expect(await tryAppend(world, 2)).toEqual([expect.stringMatching(/EIO/), expect.any(String)]);
  world.disk.fault = () => undefined;
  expect(await tryAppend(world, 2)).toEqual([undefined, undefined]);
  expect(world.disk.paths()).toEqual(["/log/log.journal-2"]);
  const next = await world.crash();
  expect(await readAll(next.store, "s")).toBe(frames("s", 1, 2));
  expect(next.found).toEqual([]);
});

test("while a damaged journal cannot be moved into the database, appends fail and nothing is lost", async () => {
  const world = await openWithOne();
  world.disk.fault = failing("writeSync", "ftruncateSync");
  await tryAppend(world, 2);
  world.disk.fault = () => undefined;
  world.db.exec("PRAGMA query_only=ON");
  expect(await tryAppend(world, 2)).toEqual([
    expect.stringMatching(/cannot truncate.*readonly/),
    expect.any(String),
  ]);
  world.db.exec("PRAGMA query_only=OFF");
  expect(await tryAppend(world, 2)).toEqual([undefined, undefined]);
  expect(await readAll(world.store, "s")).toBe(frames("s", 1, 2));
});

test.each<[string, Call]>([
  ["fdatasync", "fdatasyncSync"],
  ["sync of the directory", "fsyncSync"],
])("frames whose %s failed are not stored, do not come back, and their seq is free", async (_name, call) => {
  const world = await openWithOne();
  world.disk.fault = failing(call);
  expect(await tryAppend(world, 2, true)).toEqual([expect.stringMatching(/EIO/), expect.any(String)]);
  const next = await world.crash();
  expect(await readAll(next.store, "s")).toBe(frames("s", 1, 1));
  expect(await tryAppend(next, 2, true)).toEqual([undefined, undefined]);
});

test("a file whose sync failed is not trusted again: its frames go into the database, synced", async () => {
  const world = await openWithOne();
  world.disk.fault = failing("fdatasyncSync");
  await tryAppend(world, 2, true);
  world.disk.fault = () => undefined;
  expect(await tryAppend(world, 2, true)).toEqual([undefined, undefined]);
  expect(world.disk.paths()).toEqual(["/log/log.journal-2"]);
  const next = await world.crash(() => 0);
  expect(await readAll(next.store, "s")).toBe(frames("s", 1, 2));
});

test("a full file is followed by a new one, and removed when the database has it", async () => {
  const world = await openWithOne(2_000);
  for (let seq = 2; seq <= 60; seq += 1) await append(world.store, batch("s", seq));
  expect(world.disk.paths().length).toBeGreaterThan(3);
  expect(await readAll(world.store, "s")).toBe(frames("s", 1, 60));
  expect(world.disk.paths()).toHaveLength(1);
  await world.store.close();
  expect(world.disk.paths()).toEqual([]);
  expect(world.disk.openHandles).toBe(0);
});

test("a sync after a full file also makes the frames in that file durable", async () => {
  const world = await openWithOne(200);
  await append(world.store, batch("s", 2));
  await append(world.store, batch("s", 3));
  expect(await tryAppend(world, 4, true)).toEqual([undefined, undefined]);
  const next = await world.crash(() => 0);
  expect(await readAll(next.store, "s")).toBe(frames("s", 1, 4));
});

test("a journal file that cannot be created fails the append, and the next one tries again", async () => {
  const world = await openWorld();
  world.disk.fault = failing("openSync");
  expect(await tryAppend(world, 1)).toEqual([expect.stringMatching(/EIO/), expect.any(String)]);
  world.disk.fault = () => undefined;
  expect(await tryAppend(world, 1)).toEqual([undefined, undefined]);
});

test("nothing overtakes a sync in progress, and calls keep their order", async () => {
  const { store } = await openWithOne();
  const synced = store.append({ batches: [batch("s", 2)], rows: [], sync: true });
  const behind = store.append({ batches: [batch("s", 3)], rows: [], sync: false });
  const read = store.read("s", 0, 10_000);
  const gone = store.delete("s");
  const anew = store.append({ batches: [batch("s", 1, 2)], rows: [], sync: false });
  expect(await Promise.all([synced, behind, anew])).toEqual([[undefined], [undefined], [undefined]]);
  expect(await read).toMatchObject({ last_seq: 3 });
  await gone;
  expect(await readAll(store, "s")).toBe(frames("s", 1, 2));
});

test("when the file after a full one cannot be created, the full one is still moved into the database", async () => {
  const world = await openWithOne(10);
  world.disk.fault = failing("openSync");
  expect(await tryAppend(world, 2)).toEqual([expect.stringMatching(/EIO/), expect.any(String)]);
  world.disk.fault = () => undefined;
  expect(await readAll(world.store, "s")).toBe(frames("s", 1, 1));
  expect(await tryAppend(world, 2)).toEqual([undefined, undefined]);
});

test.each<[string, Call, boolean]>([
  ["a write", "writeSync", false],
  ["a sync", "fdatasyncSync", true],
])("%s that fails fails the requests of the order too and leaves none of them", async (_name, call, sync) => {
  const world = await openWithOne();
  world.disk.fault = failing(call);
  const requests = [request("s", "r1"), request("t", "r2")];
  const order = { batches: [batch("s", 2)], rows: [], requests, sync };
  expect(await world.store.append(order)).toEqual([0, 1, 2].map(() => expect.stringMatching(/EIO/)));
  expect(await world.store.append({ ...order, batches: [] })).toEqual([0, 1].map(() => expect.any(String)));
  world.disk.fault = () => undefined;
  expect(await world.store.requests({})).toEqual([]);
  expect(await world.store.append(order)).toEqual([undefined, undefined, undefined]);
  expect(await world.store.requests({})).toEqual(requests);
});

test.each<[string, Call, boolean]>([
  ["a write", "writeSync", false],
  ["a sync", "fdatasyncSync", true],
])("%s that fails leaves the run mark as it was, also after a crash", async (_name, call, sync) => {
  const world = await openWorld();
  await append(world.store, marked(batch("s", 1), "r", 10));
  world.disk.fault = failing(call);
  const order = { batches: [marked(batch("s", 2), "r", 20)], rows: [], sync };
  expect(await world.store.append(order)).toEqual([expect.stringMatching(/EIO/)]);
  world.disk.fault = () => undefined;
  const next = await world.crash();
  expect(await next.store.runMarks(MARKED)).toEqual([mark("s", "r", 10)]);
  expect(await next.store.append(order)).toEqual([undefined]);
  expect(await next.store.runMarks(MARKED)).toEqual([mark("s", "r", 20)]);
});

test("a synced append of requests only is on the disk when it is acknowledged", async () => {
  const world = await openWorld();
  const requests = [request("s", "r1")];
  expect(await world.store.append({ batches: [], rows: [], requests, sync: true })).toEqual([undefined]);
  const next = await world.crash(() => 0);
  expect(await next.store.requests({})).toEqual(requests);
});

test("a rejected fold is repeated while the thread lives", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const folds: string[] = [];
  let refusal: CodedError | undefined;
  const thread: FoldingThread = {
    get refusal() {
      return refusal;
    },
    ask: async ({ op }) => {
      if (op !== "fold") return { id: 1, value: op === "highestSeq" ? 0 : undefined };
      folds.push(op);
      throw new CodedError("internal", "too many calls are pending");
    },
    close: async () => undefined,
  };
  const journal = new Journal({ databasePath: "/log/log.db", firstNumber: 1, fs: new FakeDisk() });
  await append(createJournaledStore(thread, journal), batch("s", 1));
  // Stores of earlier tests have timers too, so only this one's folds count.
  await vi.advanceTimersByTimeAsync(10_000);
  const before = folds.length;
  expect(before).toBeGreaterThan(1);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(folds.length).toBeGreaterThan(before);
  refusal = new CodedError("internal", "the thread died");
  const last = folds.length;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(folds.length).toBeLessThanOrEqual(last + 1);
});
