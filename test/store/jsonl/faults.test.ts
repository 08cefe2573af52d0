// The JSONL files on a disk that fails: nothing is lost, and failures cost no more than they must.
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { closeDatabase, type Database, openDatabase } from "../../../src/base/sqlite/database.ts";
import { JsonlExport } from "../../../src/store/jsonl/export.ts";
import { importDirectory } from "../../../src/store/jsonl/import.ts";
import { SqliteDriver } from "../../../src/store/sqlite/driver.ts";
import { migrate } from "../../../src/store/sqlite/migrations.ts";
import type { Recovery } from "../../../src/store/types.ts";
import { type Call, FakeDisk } from "../disk/fake-disk.ts";
import { batch, frames, row, tempDir } from "../material.ts";

const DIR = "/log";
const LOG = "/log/s.jsonl";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

interface World {
  disk: FakeDisk;
  driver: SqliteDriver;
  jsonl: JsonlExport;
  found: Recovery[];
}

async function openEmpty(): Promise<Database> {
  const path = join(tempDir(), "log.db");
  const db = await openDatabase({ path, prepare: migrate, now: Date.now, onRecovery: () => undefined });
  onTestFinished(() => closeDatabase(db));
  return db;
}

/** A daemon's start on what the database and the disk have. */
function start(db: Database, disk: FakeDisk): World {
  const driver = new SqliteDriver(db, () => 0);
  const found: Recovery[] = [];
  const onRecovery = (one: Recovery) => found.push(one);
  const options = { now: () => 0, onRecovery, fs: disk, dir: DIR, exports: driver.exportsTo(DIR) };
  const skip = importDirectory({ ...options, driver });
  const jsonl = new JsonlExport({ ...options, source: driver, skip });
  driver.onStored = (session_id) => jsonl.add(session_id);
  return { disk, driver, jsonl, found };
}

async function open(): Promise<World> {
  return start(await openEmpty(), new FakeDisk());
}

function store(driver: SqliteDriver, first_seq: number, last_seq: number, session_id = "s"): void {
  const batches = [batch(session_id, first_seq, last_seq)];
  const faults = driver.append({ batches, rows: [row(session_id, { last_seq })], sync: false });
  expect(faults).toEqual([undefined, undefined]);
}

function fail(disk: FakeDisk, call: Call, suffix: string): void {
  disk.fault = (found, path) =>
    found === call && path.endsWith(suffix) ? { errno: "ENOSPC", part: 9 } : undefined;
}

test.each<Call>(["writeSync", "fdatasyncSync", "renameSync"])(
  "a replacement whose %s fails leaves no temporary file",
  async (call) => {
    const { disk, driver, jsonl, found } = await open();
    fail(disk, call, ".tmp");
    store(driver, 1, 3);
    jsonl.flush(["s"]);
    expect(found).toMatchObject([{ event: "export_failed" }]);
    expect(disk.paths()).toEqual([LOG]);
    expect(disk.openHandles).toBe(0);
  },
);

test.each(["the next flush", "the retry"])(
  "a session whose files failed is written again by %s",
  async (by) => {
    const { disk, driver, jsonl, found } = await open();
    fail(disk, "openSync", ".jsonl");
    store(driver, 1, 3);
    jsonl.flush(["s"]);
    disk.fault = () => undefined;
    if (by === "the retry") vi.runAllTimers();
    else jsonl.flush(["s"]);
    expect(disk.content(LOG)).toBe(frames("s", 1, 3));
    expect(found).toMatchObject([{ event: "export_failed" }, { event: "export_resumed" }]);
  },
);

test.each([
  ["new", ""],
  ["known", frames("s", 1, 3)],
])("a torn tail of a %s session that cannot be copied stays in the file", async (_name, known) => {
  const db = await openEmpty();
  const disk = new FakeDisk();
  if (known !== "") {
    const before = start(db, disk);
    store(before.driver, 1, 3);
    before.jsonl.close();
  }
  const content = `${frames("s", 1, 5)}{"torn`;
  disk.put(LOG, Buffer.from(content));
  disk.fault = (call, path) =>
    call === "writeSync" && path.includes(".torn-") ? { errno: "ENOSPC" } : undefined;
  const world = start(db, disk);
  expect(world.found).toMatchObject([{ message: expect.stringMatching(/^cannot import .*ENOSPC/) }]);
  disk.fault = () => undefined;
  world.jsonl.flush(["s"]);
  world.jsonl.close();
  expect(disk.content(LOG)).toBe(content);
  const next = start(db, disk);
  expect(next.driver.newestSeq("s")).toBe(5);
  expect(disk.content(LOG)).toBe(frames("s", 1, 5));
  expect(disk.content(next.found[0]?.aside ?? "")).toBe('{"torn');
});

test("deleting a session whose import failed removes its files", async () => {
  const db = await openEmpty();
  const disk = new FakeDisk();
  const before = start(db, disk);
  store(before.driver, 1, 3);
  before.jsonl.close();
  disk.put(LOG, Buffer.from(frames("s", 1, 5)));
  fail(disk, "openSync", ".jsonl");
  const { driver, jsonl } = start(db, disk);
  disk.fault = () => undefined;
  driver.delete("s");
  jsonl.flush(["s"]);
  expect(disk.paths()).toEqual([]);
  store(driver, 1, 1);
  jsonl.flush(["s"]);
  expect(disk.content(LOG)).toBe(frames("s", 1, 1));
});

test("a session that is deleted before its files were first written does not come back", async () => {
  const db = await openEmpty();
  const disk = new FakeDisk();
  store(new SqliteDriver(db, () => 0), 1, 2);
  disk.put(LOG, Buffer.from(frames("s", 1, 3)));
  const { driver } = start(db, disk);
  driver.delete("s");
  // Killed before the files are removed.
  vi.clearAllTimers();
  const next = start(db, disk);
  expect(next.driver.loadRow("s")).toBeUndefined();
  vi.runAllTimers();
  expect(disk.paths()).toEqual([]);
});

test("bytes whose sync failed are written again before they count as synced", async () => {
  const { disk, driver, jsonl } = await open();
  store(driver, 1, 3);
  jsonl.flush(["s"]);
  const recorded = frames("s", 1, 3).length;
  store(driver, 4, 6);
  vi.runAllTimers();
  fail(disk, "fdatasyncSync", ".jsonl");
  jsonl.flush(["s"]);
  disk.fault = () => undefined;
  const writeSync = vi.spyOn(disk, "writeSync");
  vi.runAllTimers();
  expect(writeSync.mock.calls.map(([, , , , position]) => position)).toContain(recorded);
  expect(disk.content(LOG)).toBe(frames("s", 1, 6));
});

test("a pass counts the bytes of files that it writes again", async () => {
  const { disk, driver, jsonl } = await open();
  const text = "x".repeat(700_000);
  const ids = ["s", "t"];
  for (const id of ids) driver.append({ batches: [batch(id, 1, 8, text)], rows: [], sync: false });
  jsonl.flush(ids);
  for (const id of ids) disk.unlinkSync(`/log/${id}.jsonl`);
  jsonl.checkAll();
  vi.advanceTimersToNextTimer();
  expect(disk.paths()).toHaveLength(1);
  vi.runAllTimers();
  for (const id of ids) expect(disk.content(`/log/${id}.jsonl`)).toBe(frames(id, 1, 8, text));
});
