// Moving the journal into the database: in order, exactly once, wherever a crash happens.
import { expect, test } from "vitest";
import type { LogBatch, Store } from "../../../src/store/index.ts";
import { Folder } from "../../../src/store/journal/folder.ts";
import { Journal } from "../../../src/store/journal/journal.ts";
import { SqliteDriver } from "../../../src/store/sqlite/driver.ts";
import { IS_CHAOS } from "../../support/sizes.ts";
import { FakeDisk } from "../disk/fake-disk.ts";
import { append, batch, frames, MARKED, mark, marked, readAll, request, row } from "../material.ts";
import { FIRST_FILE, firstLife, openWorld, type World } from "./world.ts";

/** The bytes of a journal with these batches. */
function journalBytes(...batches: LogBatch[]): Buffer {
  const disk = new FakeDisk();
  const journal = new Journal({ databasePath: "/log/log.db", firstNumber: 1, fs: disk });
  for (const one of batches) journal.keep(journal.write({ batches: [one], rows: [], at_ms: 1 }));
  return disk.bytes(FIRST_FILE);
}

function put(world: World, n: number, data: Buffer): void {
  world.disk.put(`/log/log.journal-${n}`, data);
}

async function turnsOf(store: Store): Promise<number | undefined> {
  return (await store.loadRow("s"))?.turns;
}

test("a journal cut at any byte of its last record gives the records before it, and the rest is kept", async () => {
  const whole = journalBytes(batch("s", 1, 2), batch("s", 3));
  const good = journalBytes(batch("s", 1, 2)).length;
  let world = await openWorld();
  // Every byte in chaos; in the gate every fifth, and both ends.
  const step = IS_CHAOS ? 1 : 5;
  const cuts = Array.from({ length: whole.length - good + 1 }, (_, at) => good + at);
  for (const end of cuts.filter((end) => end % step === 0 || end === good || end >= whole.length - 1)) {
    world = await openWorld(firstLife());
    put(world, 1, whole.subarray(0, end));
    world = await world.crash();
    const isWhole = end === whole.length;
    expect(await readAll(world.store, "s")).toBe(frames("s", 1, isWhole ? 3 : 2));
    expect(world.found).toHaveLength(isWhole || end === good ? 0 : 1);
    const aside = world.found[0]?.aside;
    if (aside !== undefined) expect(world.disk.bytes(aside)).toEqual(whole.subarray(good, end));
    expect(world.disk.paths()).toEqual(aside === undefined ? [] : [aside]);
    await append(world.store, batch("s", isWhole ? 4 : 3));
  }
});

test("a record cut at any byte gives its frames and its run mark, or neither", async () => {
  const [first, second] = [marked(batch("s", 1), "r", 10), marked(batch("s", 2), "r", 20)];
  const whole = journalBytes(first, second);
  const good = journalBytes(first).length;
  const { disk, db } = await openWorld();
  const options = { now: Date.now, onRecovery: () => undefined, databasePath: "/log/log.db", fs: disk };
  const driver = new SqliteDriver(db, Date.now);
  for (let end = 0; end <= whole.length; end += 1) {
    // A new session and file each time: opening a database for every byte takes too long.
    driver.delete("s");
    const { nextNumber } = new Folder({ ...options, target: driver });
    disk.put(`/log/log.journal-${nextNumber}`, whole.subarray(0, end));
    new Folder({ ...options, target: driver }).recover();
    const stored = Number(end >= good) + Number(end === whole.length);
    expect(driver.newestSeq("s") ?? 0).toBe(stored);
    expect(driver.runMarks(MARKED)).toEqual(stored === 0 ? [] : [mark("s", "r", stored * 10)]);
  }
});

test("run marks of a journal that a dead daemon left are stored, each with its frames", async () => {
  const world = await openWorld();
  await append(world.store, marked(batch("s", 1, 2), "r", 10), marked(batch("t", 1), "r-t", 1));
  await append(world.store, marked(batch("s", 3), "r", 20));
  expect(world.driver.runMarks(MARKED)).toEqual([]);
  const { store, found } = await world.crash();
  expect(await store.runMarks(MARKED)).toEqual([mark("s", "r", 20), mark("t", "r-t", 1)]);
  expect(found).toEqual([]);
});

test("the run mark of a batch that the database refuses is not stored", async () => {
  const before = await openWorld();
  put(before, 1, journalBytes(marked(batch("s", 1), "r", 10), marked(batch("s", 3), "r", 30)));
  const { store, found } = await before.crash();
  expect(await store.runMarks(MARKED)).toEqual([mark("s", "r", 10)]);
  expect(found[0]).toMatchObject({ session_id: "s", message: expect.stringMatching(/does not follow/) });
});

test("while the journal cannot be moved into the database, old run marks are not returned", async () => {
  const world = await openWorld();
  await append(world.store, marked(batch("s", 1), "r", 10));
  expect(await world.store.runMarks(MARKED)).toHaveLength(1);
  world.db.exec("PRAGMA query_only=ON");
  await append(world.store, marked(batch("s", 2), "r", 20));
  await expect(world.store.runMarks(MARKED)).rejects.toThrow(/readonly/);
  world.db.exec("PRAGMA query_only=OFF");
  expect(await world.store.runMarks(MARKED)).toEqual([mark("s", "r", 20)]);
});

test.each<[string, (whole: Buffer) => Buffer]>([
  ["NULs after the records", (whole) => Buffer.concat([whole, Buffer.alloc(300)])],
  ["text after the records", (whole) => Buffer.concat([whole, Buffer.from("hello\n")])],
  [
    "a record that claims to be longer",
    (whole) => Buffer.concat([whole, journalBytes(batch("s", 4)).subarray(0, 40)]),
  ],
])("%s are put aside and reported", async (_name, spoil) => {
  const before = await openWorld();
  put(before, 1, spoil(journalBytes(batch("s", 1, 3))));
  const { store, found, disk } = await before.crash();
  expect(await readAll(store, "s")).toBe(frames("s", 1, 3));
  expect(found).toMatchObject([{ aside: expect.stringMatching(/journal-1\.torn-\d{8}T\d{9}Z$/) }]);
  expect(disk.paths()).toEqual([found[0]?.aside]);
});

test("several journals are moved in the order of their numbers", async () => {
  const before = await openWorld();
  put(before, 9, journalBytes(batch("s", 1, 2)));
  put(before, 10, journalBytes(batch("s", 3)));
  put(before, 12, journalBytes(batch("s", 4, 5)));
  const { store, found, disk } = await before.crash();
  expect(await readAll(store, "s")).toBe(frames("s", 1, 5));
  expect(found).toEqual([]);
  await append(store, batch("s", 6));
  expect(disk.paths()).toEqual(["/log/log.journal-13"]);
});

test("a crash between the transaction and the removal of the file is harmless", async () => {
  const world = await openWorld();
  await append(world.store, batch("s", 1, 3));
  world.disk.fault = (call) => (call === "unlinkSync" ? { errno: "EIO" } : undefined);
  await world.store.close();
  expect(world.disk.paths()).toEqual([FIRST_FILE]);
  const next = await world.crash();
  expect(await readAll(next.store, "s")).toBe(frames("s", 1, 3));
  expect(next.found).toEqual([]);
  expect(next.disk.paths()).toEqual([]);
});

test("a record that is already in the database is not stored again, nor is one deleted since", async () => {
  const world = await openWorld();
  await append(world.store, batch("s", 1, 3), batch("t", 1));
  await world.store.append({ batches: [], rows: [row("s", { turns: 1 })], sync: true });
  await world.store.delete("s");
  const next = await world.crash();
  expect(await next.store.loadRow("s")).toBeUndefined();
  expect(await readAll(next.store, "t")).toBe(frames("t", 1, 1));
  expect(next.found).toEqual([]);
  await append(next.store, batch("s", 1));
  const last = await next.crash(() => 0);
  expect(last.found).toEqual([]);
  expect(await readAll(last.store, "t")).toBe(frames("t", 1, 1));
});

test("a deleted session that starts again with a synced frame survives a power cut as the new one", async () => {
  const world = await openWorld();
  await append(world.store, batch("s", 1, 3));
  await world.store.delete("s");
  await world.store.append({ batches: [batch("s", 1)], rows: [], sync: true });
  const next = await world.crash(() => 0);
  expect(await readAll(next.store, "s")).toBe(frames("s", 1, 1));
  expect(next.found).toEqual([]);
});

test("rows are applied in the order they were given, whichever call gave them", async () => {
  const world = await openWorld();
  for (let turns = 1; turns <= 6; turns += 1) {
    if (turns % 2 === 0) await world.store.saveRow(row("s", { turns }));
    else await world.store.append({ batches: [], rows: [row("s", { turns })], sync: false });
    if (turns === 3) expect(await turnsOf(world.store)).toBe(3);
  }
  const next = await world.crash();
  expect(await turnsOf(next.store)).toBe(6);
});

test("a number whose file was lost in a power cut is not used again", async () => {
  const world = await openWorld();
  await append(world.store, batch("s", 1, 3));
  await world.store.delete("other");
  world.disk.unlinkSync(FIRST_FILE);
  const next = await world.crash();
  await append(next.store, batch("s", 4));
  expect(next.disk.paths()).toEqual(["/log/log.journal-2"]);
  expect(await readAll(next.store, "s")).toBe(frames("s", 1, 4));
});

test("while the database accepts nothing, appends continue, stored frames stay readable, and it is retried", async () => {
  const world = await openWorld();
  await append(world.store, batch("s", 1));
  expect(await readAll(world.store, "s")).toBe(frames("s", 1, 1));
  world.db.exec("PRAGMA query_only=ON");
  await append(world.store, batch("s", 2));
  expect(await world.store.read("s", 0, 1_000)).toMatchObject({ last_seq: 1 });
  await expect(world.store.read("s", 1, 1_000)).rejects.toThrow(/cannot move the journal.*readonly/);
  expect(await world.store.earliest("s")).toBe(1);
  await expect(world.store.earliest("new")).rejects.toThrow(/cannot move the journal.*readonly/);
  await expect(world.store.loadRow("s")).rejects.toThrow(/readonly/);
  await expect(world.store.delete("s")).rejects.toThrow(/readonly/);
  expect(await world.store.rows()).toEqual([]);
  expect(world.found).toMatchObject([{ message: expect.stringMatching(/readonly/) }]);
  world.db.exec("PRAGMA query_only=OFF");
  await append(world.store, batch("s", 3));
  expect(await readAll(world.store, "s")).toBe(frames("s", 1, 3));
});

test("a store that is closed while the database refuses writes leaves the journal to the next one", async () => {
  const world = await openWorld();
  await append(world.store, batch("s", 1, 2));
  world.db.exec("PRAGMA query_only=ON");
  await world.store.close();
  expect(world.disk.paths()).toEqual([FIRST_FILE]);
  const next = await world.crash();
  expect(await readAll(next.store, "s")).toBe(frames("s", 1, 2));
});

test("beyond 64 MB that the database did not take, appends fail and say why", async () => {
  const world = await openWorld();
  await append(world.store, batch("s", 1));
  world.db.exec("PRAGMA query_only=ON");
  await expect(world.store.loadRow("s")).rejects.toThrow();
  const large = "x".repeat(9_000_000);
  for (let seq = 2; seq <= 9; seq += 1) await append(world.store, batch("s", seq, seq, large));
  await expect(append(world.store, batch("s", 10))).rejects.toThrow(
    /64 MB are not yet in the database.*readonly/,
  );
  world.db.exec("PRAGMA query_only=OFF");
  expect(await world.store.loadRow("s")).toMatchObject({ last_seq: 9 });
  await append(world.store, batch("s", 10));
});

test("records that the database rejects are reported and kept, and do not block the others", async () => {
  const before = await openWorld();
  const bad = batch("s", 5, 6);
  put(before, 1, journalBytes(batch("t", 1), bad, batch("t", 2)));
  const { store, found, disk } = await before.crash();
  expect(await readAll(store, "t")).toBe(frames("t", 1, 2));
  const message = expect.stringMatching(/seq 5 does not follow/);
  expect(found).toMatchObject([
    { session_id: "s", kept_seq: 0, cut_bytes: bad.bytes.length, message },
    { aside: expect.stringMatching(/journal-1\.refused-/) },
  ]);
  expect(disk.paths()).toEqual([found[1]?.aside]);
});

test("a record that breaks a rule of the database does not block the others either", async () => {
  const world = await openWorld();
  world.db.exec(`CREATE TEMP TRIGGER bad BEFORE INSERT ON batches WHEN NEW.session_id = 'bad'
                 BEGIN SELECT RAISE(ABORT, 'bad batch'); END`);
  await append(world.store, batch("a", 1), batch("bad", 1), batch("a", 2));
  expect(await readAll(world.store, "a")).toBe(frames("a", 1, 2));
  expect(world.found).toMatchObject([{ session_id: "bad", message: "bad batch" }]);
});

test("requests of a journal that a dead daemon left are in the ledger, without frames too", async () => {
  const world = await openWorld();
  const [first, second] = [request("s", "r1"), request("t", "r2")];
  await world.store.append({ batches: [batch("s", 1)], rows: [], requests: [first], sync: false });
  await world.store.append({ batches: [], rows: [], requests: [second], sync: false });
  expect(world.driver.requests({})).toEqual([]);
  const { store, found } = await world.crash();
  expect(await store.requests({})).toEqual([first, second]);
  expect(found).toEqual([]);
});

test("requests of a deleted session do not come back with the journal", async () => {
  const world = await openWorld();
  const order = { batches: [batch("s", 1)], rows: [], requests: [request("s", "r1")], sync: true };
  await world.store.append(order);
  await world.store.delete("s");
  await world.store.append({ ...order, requests: [request("s", "r2")] });
  const { store } = await world.crash(() => 0);
  expect((await store.requests({})).map(({ request_id }) => request_id)).toEqual(["r2"]);
});

test("a ledger that the journal could not be moved into does not answer with old rows", async () => {
  const world = await openWorld();
  await world.store.append({ batches: [], rows: [], requests: [request("s", "r1")], sync: true });
  expect(await world.store.requests({ open: true })).toHaveLength(1);
  world.db.exec("PRAGMA query_only=ON");
  const gone = request("s", "r1", { status: "withdrawn" });
  await world.store.append({ batches: [], rows: [], requests: [gone], sync: true });
  await expect(world.store.requests({ open: true })).rejects.toThrow(/readonly/);
  await expect(world.store.request("s", "r1")).rejects.toThrow(/readonly/);
  world.db.exec("PRAGMA query_only=OFF");
  expect(await world.store.request("s", "r1")).toEqual(gone);
});

test("a request whose frames the database refuses is rejected with them, and reported", async () => {
  const before = await openWorld();
  const disk = new FakeDisk();
  const journal = new Journal({ databasePath: "/log/log.db", firstNumber: 1, fs: disk });
  const [bad, good] = [request("s", "r1"), request("t", "r2")];
  journal.keep(journal.write({ batches: [batch("s", 5)], rows: [], requests: [bad, good], at_ms: 1 }));
  put(before, 1, disk.bytes(FIRST_FILE));
  const { store, found } = await before.crash();
  expect(await store.requests({})).toEqual([good]);
  expect(found[0]).toMatchObject({ session_id: "s", message: expect.stringMatching(/does not follow/) });
});
