// `<id>.settled.ndjson`: what it spares a save, what a crash or a stranger can leave in it; and how soon a secret is
// gone from the files.
import { appendFileSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { RequestRow } from "../../../src/protocol/requests.ts";
import { openInProcessStore, type Recovery, type Store } from "../../../src/store/index.ts";
import { openJsonlDriver } from "../../../src/store/jsonl/driver.ts";
import type { Driver } from "../../../src/store/types.ts";
import { FakeDisk } from "../disk/fake-disk.ts";
import { batch, NO_LIMITS, request, tempDir } from "../material.ts";

async function openStore(path: string, found: Recovery[] = []): Promise<Store> {
  const store = await openInProcessStore({ kind: "jsonl", path }, { onRecovery: (one) => found.push(one) });
  onTestFinished(() => store.close());
  return store;
}

function openOn(disk: FakeDisk): Driver {
  return openJsonlDriver("/log", { now: () => 0, onRecovery: () => undefined }, disk);
}

function settled(n: number, session_id = "s"): RequestRow {
  const request_id = `r${String(n).padStart(4, "0")}`;
  return request(session_id, request_id, { status: "orphaned", requested_at_ms: n });
}

/** Stores settled rows one by one. */
async function settle(store: Store, from: number, to: number): Promise<RequestRow[]> {
  const rows = Array.from({ length: to - from }, (_, n) => settled(from + n));
  for (const row of rows) {
    expect(await store.append({ batches: [], rows: [], requests: [row], sync: true })).toEqual([undefined]);
  }
  return rows;
}

/** Counts the bytes that go to and from the disk. */
class CountingDisk extends FakeDisk {
  bytesMoved = 0;

  override writeSync(fd: number, bytes: Uint8Array, offset: number, length: number, at: number): number {
    this.bytesMoved += length;
    return super.writeSync(fd, bytes, offset, length, at);
  }

  override readSync(fd: number, bytes: Uint8Array, offset: number, length: number, at: number): number {
    const count = super.readSync(fd, bytes, offset, length, at);
    this.bytesMoved += count;
    return count;
  }
}

test("a request costs no more when many were made before it, and the list has them all", () => {
  const disk = new CountingDisk();
  const driver = openOn(disk);
  const ask = (n: number): number => {
    const before = disk.bytesMoved;
    const asked = request("s", `r${n}`, { requested_at_ms: n });
    const resolved: RequestRow = { ...asked, status: "resolved", answer: { decision: "accept" } };
    driver.append({ batches: [batch("s", 2 * n + 1)], rows: [], requests: [asked], sync: true });
    driver.append({ batches: [batch("s", 2 * n + 2)], rows: [], requests: [resolved], sync: true });
    expect(driver.request("s", `r${n}`)).toEqual(resolved);
    const done = { ...resolved, dispatched_at_ms: n };
    driver.append({ batches: [], rows: [], requests: [done], sync: true });
    return disk.bytesMoved - before;
  };
  const costs = Array.from({ length: 400 }, (_, n) => ask(n));
  const worst = (part: number[]) => Math.max(...part);
  expect(worst(costs.slice(300))).toBeLessThan(1.2 * worst(costs.slice(0, 100)));
  expect(driver.requests({ open: true })).toEqual([]);
  expect(driver.requests({ session_id: "s" }).map((row) => row.requested_at_ms)).toEqual([...costs.keys()]);
  expect(openOn(disk).requests({})).toHaveLength(400);
});

test("a page reads its own rows and not the whole file again", () => {
  const disk = new CountingDisk();
  const driver = openOn(disk);
  for (let n = 0; n < 600; n += 1) {
    driver.append({ batches: [], rows: [], requests: [settled(n)], sync: true });
  }
  expect(driver.requests({ limit: 1 })).toHaveLength(1);
  const before = disk.bytesMoved;
  const after = { requested_at_ms: 300, request_id: "r0300" };
  expect(driver.requests({ after, limit: 5 }).map((row) => row.requested_at_ms)).toEqual([
    301, 302, 303, 304, 305,
  ]);
  expect(disk.bytesMoved - before).toBeLessThan(10_000);
});

test("settled rows move to a file of their own, private to the user, and go with the session", async () => {
  const dir = tempDir();
  const store = await openStore(dir);
  const rows = await settle(store, 0, 40);
  expect(readdirSync(dir).sort()).toEqual(["s.requests.json", "s.settled.ndjson"]);
  expect(statSync(join(dir, "s.settled.ndjson")).mode & 0o777).toBe(0o600);
  expect(JSON.parse(readFileSync(join(dir, "s.requests.json"), "utf8")).rows.length).toBeLessThan(10);
  for (const reader of [store, await openStore(dir)]) {
    expect(await reader.requests({})).toEqual(rows);
    expect(await reader.request("s", "r0003")).toEqual(rows[3]);
    expect(await reader.request("s", "r0039")).toEqual(rows[39]);
    expect(await reader.request("s", "none")).toBeUndefined();
  }
  await store.delete("s");
  expect(readdirSync(dir)).toEqual([]);
  expect(await store.requests({})).toEqual([]);
});

test("a row that changes although it had moved is shown once, as it is now", async () => {
  const store = await openStore(tempDir());
  const rows = await settle(store, 0, 20);
  await store.requests({});
  const again = { ...settled(3), status: "pending" as const };
  await store.append({ batches: [batch("s", 1)], rows: [], requests: [again], sync: true });
  expect(await store.request("s", "r0003")).toEqual(again);
  expect(await store.requests({})).toEqual(rows.with(3, again));
  await store.append({ batches: [batch("s", 2)], rows: [], requests: [settled(3)], sync: true });
  const more = await settle(store, 20, 40);
  expect(await store.requests({})).toEqual([...rows, ...more]);
});

test("retention takes old rows out of both files, and the file with its last row", async () => {
  const dir = tempDir();
  const store = await openStore(dir);
  await settle(store, 0, 40);
  await store.requests({ limit: 1 });
  const young = { ...settled(50), requested_at_ms: Date.now() };
  await store.append({ batches: [], rows: [], requests: [young], sync: true });
  await settle(store, 60, 69);
  await store.prune({ ...NO_LIMITS, maxAgeMs: 60_000 });
  expect(await store.requests({})).toEqual([young]);
  expect(await (await openStore(dir)).requests({})).toEqual([young]);
  await store.delete("s");
  await settle(store, 0, 40);
  await store.prune({ ...NO_LIMITS, maxAgeMs: 60_000 });
  expect(readdirSync(dir)).toEqual([]);
});

test.each([
  ["half a line", JSON.stringify(settled(99)).slice(0, 60)],
  ["a line without its newline", JSON.stringify(settled(99))],
  ["NULs", "\0".repeat(100)],
  ["garbage in the middle", "garbage\n"],
  ["a row without its payload", `${JSON.stringify({ ...settled(99), payload: undefined })}\n`],
  ["a row of another session", `${JSON.stringify(settled(99, "t"))}\n`],
])("settled rows with %s behind them are put aside and the good ones stay", async (_name, rest) => {
  const dir = tempDir();
  const file = join(dir, "s.settled.ndjson");
  const rows = await settle(await openStore(dir), 0, 10);
  appendFileSync(file, rest);
  const spoilt = readFileSync(file);
  const found: Recovery[] = [];
  const store = await openStore(dir, found);
  expect(await store.requests({})).toEqual(rows);
  const aside = expect.stringContaining("s.settled.ndjson.torn-");
  expect(found).toEqual([{ session_id: "s", kept_seq: 0, cut_bytes: Buffer.byteLength(rest), aside }]);
  expect(readFileSync(found[0]?.aside ?? "")).toEqual(spoilt);
  const more = await settle(store, 10, 30);
  expect(await (await openStore(dir)).requests({})).toEqual([...rows, ...more]);
  await store.delete("s");
  expect(readdirSync(dir)).toEqual([]);
});

test("a row behind half a line that a crash left is a line of its own", async () => {
  const dir = tempDir();
  const rows = await settle(await openStore(dir), 0, 10);
  appendFileSync(join(dir, "s.settled.ndjson"), '{"request_id":"half');
  const store = await openStore(dir);
  const more = await settle(store, 10, 30);
  expect(await store.requests({})).toEqual([...rows, ...more]);
});

test("settled rows of a session that differs only in case are neither shown nor touched", async () => {
  const dir = tempDir();
  const content = `${JSON.stringify(settled(1, "S"))}\n`;
  writeFileSync(join(dir, "s.settled.ndjson"), content);
  const found: Recovery[] = [];
  expect(await (await openStore(dir, found)).requests({ session_id: "s" })).toEqual([]);
  expect(readFileSync(join(dir, "s.settled.ndjson"), "utf8")).toBe(content);
  expect(found).toEqual([]);
});

const pending = request("s", "secret");
const told: RequestRow = { ...pending, status: "resolved", answer: { answers: { q: "hunter2" } } };
const masked: RequestRow = { ...told, answer: { answers: { q: "[secret]" } } };

function step(driver: Driver, seq: number | undefined, row: RequestRow): (string | undefined)[] {
  const batches = seq === undefined ? [] : [batch("s", seq)];
  return driver.append({ batches, rows: [], requests: [row], sync: true });
}

function holders(disk: FakeDisk): string[] {
  return disk.paths().filter((path) => disk.content(path)?.includes("hunter2"));
}

test.each<[string, number | undefined, Partial<RequestRow>]>([
  ["dispatched", undefined, { dispatched_at_ms: 1 }],
  ["orphaned", 3, { status: "orphaned" }],
  ["withdrawn", 3, { status: "withdrawn" }],
])("a secret answer that was %s is in no file any more", (_name, seq, fields) => {
  const disk = new FakeDisk();
  const driver = openOn(disk);
  step(driver, 1, pending);
  step(driver, 2, told);
  expect(holders(disk)).toEqual(["/log/s.requests.json"]);
  expect(step(driver, seq, { ...masked, ...fields }).every((fault) => fault === undefined)).toBe(true);
  expect(holders(disk)).toEqual([]);
  expect(openOn(disk).requests({})).toEqual([{ ...masked, ...fields }]);
});

test.each(["the disk did not take it at first", "the process died before"])(
  "a secret answer goes with the next frames when %s",
  (how) => {
    const disk = new FakeDisk();
    const driver = openOn(disk);
    step(driver, 1, pending);
    step(driver, 2, told);
    let writes = 0;
    disk.fault = (call, path) => {
      if (call === "renameSync" && path.includes("requests")) writes += 1;
      return writes > 1 ? { errno: "EIO" } : undefined;
    };
    expect(step(driver, 3, { ...masked, status: "orphaned" })).toEqual([undefined, undefined]);
    disk.fault = () => undefined;
    expect(holders(disk)).toContain("/log/s.requests.json");
    const next = how.startsWith("the disk") ? driver : openOn(disk);
    expect(next.requests({})).toEqual([{ ...masked, status: "orphaned" }]);
    expect(next.append({ batches: [batch("s", 4)], rows: [], sync: false })).toEqual([undefined]);
    expect(holders(disk)).toEqual([]);
  },
);
