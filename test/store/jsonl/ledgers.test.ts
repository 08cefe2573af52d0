// `<id>.requests.json`: its name, and a process or disk that dies between it and the log. Damaged ones are in
// ledger-damage.test.ts.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { openInProcessStore, type Recovery, type Store } from "../../../src/store/index.ts";
import { openJsonlDriver } from "../../../src/store/jsonl/driver.ts";
import {
  ledgerOwner,
  ledgerPath,
  logOwner,
  logPath,
  ownFiles,
  settledOwner,
  settledPath,
  sidecarOwner,
  sidecarPath,
} from "../../../src/store/jsonl/paths.ts";
import type { Driver } from "../../../src/store/types.ts";
import { type Call, FakeDisk } from "../disk/fake-disk.ts";
import { append, batch, frames, NO_LIMITS, readAll, request, row, tempDir, text } from "../material.ts";

const FILE = "/log/s.requests.json";

async function openStore(path: string, found: Recovery[] = []): Promise<Store> {
  const store = await openInProcessStore({ kind: "jsonl", path }, { onRecovery: (one) => found.push(one) });
  onTestFinished(() => store.close());
  return store;
}

function openOn(disk: FakeDisk): Driver {
  return openJsonlDriver("/log", { now: () => 0, onRecovery: () => undefined }, disk);
}

function order(first_seq: number, ...ids: string[]) {
  const requests = ids.map((id) => request("s", id));
  return { batches: [batch("s", first_seq)], rows: [], requests, sync: true };
}

function failing(call: Call, part: string): FakeDisk["fault"] {
  return (found, path) => (found === call && path.includes(part) ? { errno: "EIO" } : undefined);
}

test("a session that was asked something has <id>.requests.json too, private to the user", async () => {
  const dir = tempDir();
  const store = await openStore(dir);
  await store.append(order(1, "r1"));
  expect(readdirSync(dir).sort()).toEqual(["s.jsonl", "s.requests.json"]);
  expect(statSync(join(dir, "s.requests.json")).mode & 0o777).toBe(0o600);
  await store.append({ ...order(2, "r2"), batches: [] });
  expect(JSON.parse(readFileSync(join(dir, "s.requests.json"), "utf8"))).toEqual({
    rows: [request("s", "r1"), request("s", "r2")],
  });
});

test("no file of one session is ever taken for a file of another, whatever their ids end in", () => {
  const end = fc.constantFrom(
    ".requests",
    ".usage",
    ".jsonl",
    ".json",
    ".requests.json",
    ".tmp",
    ".usage.json",
    ".settled",
    ".settled.ndjson",
    ".ndjson",
  );
  const id = fc
    .tuple(fc.constantFrom("a", "b.c"), fc.array(end, { maxLength: 3 }))
    .map(([s, e]) => s + e.join(""));
  const aside = fc.constantFrom("", ".tmp", ".torn-20260101T000000000Z", ".torn-20260101T000000000Z-1");
  const names = (one: string) => [
    logPath("", one),
    sidecarPath("", one),
    ledgerPath("", one),
    settledPath("", one),
  ];
  const ownersOf = (name: string) =>
    [logOwner, sidecarOwner, ledgerOwner, settledOwner].map((of) => of(name));
  fc.assert(
    fc.property(id, id, aside, (one, other, rest) => {
      for (const name of names(one)) {
        expect(ownFiles(one)(name + rest)).toBe(true);
        expect(ownFiles(other)(name + rest)).toBe(one === other);
        expect(ownersOf(name).filter((owner) => owner !== undefined)).toEqual([one]);
        if (rest !== "") expect(ownersOf(name + rest)).toEqual([undefined, undefined, undefined, undefined]);
      }
    }),
    { numRuns: 2_000 },
  );
});

test("sessions named a, a.requests and a.usage keep their rows and requests apart", async () => {
  const store = await openStore(tempDir());
  const all = ["a", "a.requests", "a.usage", "a.requests.json", "a.jsonl", "a.settled", "a.settled.ndjson"];
  for (const id of all) {
    const requests = [request(id, `of-${id}`)];
    await store.append({ batches: [batch(id, 1, 2)], rows: [row(id)], requests, sync: true });
  }
  await store.prune({ ...NO_LIMITS, maxRowsPerSession: 1, maxAgeMs: 1 });
  expect((await store.rows()).map((found) => found.session_id).sort()).toEqual(all.toSorted());
  await store.delete("a");
  const rest = all.filter((id) => id !== "a");
  for (const id of rest) {
    expect(await store.requests({ session_id: id })).toEqual([request(id, `of-${id}`)]);
    expect(await readAll(store, id)).toBe(frames(id, 2, 2));
  }
  expect((await store.rows()).map((found) => found.session_id).sort()).toEqual(rest.toSorted());
});

test("a process that dies between the ledger and the log has stored neither, also behind new frames", () => {
  const disk = new FakeDisk();
  expect(openOn(disk).append(order(1, "r1"))).toEqual([undefined, undefined]);
  const before = disk.bytes("/log/s.jsonl");
  expect(openOn(disk).append(order(2, "r2"))).toEqual([undefined, undefined]);
  disk.put("/log/s.jsonl", before);
  const driver = openOn(disk);
  expect(driver.requests({})).toEqual([request("s", "r1")]);
  expect(driver.request("s", "r2")).toBeUndefined();
  expect(driver.append({ batches: [batch("s", 2, 9)], rows: [], sync: true })).toEqual([undefined]);
  expect(driver.requests({})).toEqual([request("s", "r1")]);
  expect(openOn(disk).requests({})).toEqual([request("s", "r1")]);
});

test("requests whose frames are the last of a log are told before the log was touched, large frames too", () => {
  const disk = new FakeDisk();
  const large = batch("s", 1, 1, "x".repeat(200_000));
  openOn(disk).append({ ...order(1, "r1"), batches: [large] });
  expect(openOn(disk).requests({ open: true })).toEqual([request("s", "r1")]);
});

test.each<[string, Call, string]>([
  ["the ledger cannot be written", "writeSync", "requests"],
  ["the ledger cannot be replaced", "renameSync", "requests"],
  ["its name cannot be synced", "fsyncSync", "/log"],
  ["the log cannot be written", "writeSync", "s.jsonl"],
  ["the log cannot be synced", "fdatasyncSync", "s.jsonl"],
  ["the row cannot be written", "writeSync", "usage"],
])("when %s, frames and requests are as before, now and after a restart", (_name, call, part) => {
  const disk = new FakeDisk();
  const driver = openOn(disk);
  expect(driver.append(order(1, "r1"))).toEqual([undefined, undefined]);
  disk.fault = failing(call, part);
  const failed = { ...order(2, "r2"), rows: [row("s")] };
  expect(driver.append(failed)).toEqual([0, 1, 2].map(() => expect.stringMatching(/EIO/)));
  for (const reader of [driver, openOn(disk)]) {
    expect(reader.requests({})).toEqual([request("s", "r1")]);
    expect(text(reader.read("s", 0, 1_000))).toBe(frames("s", 1, 1));
  }
  disk.fault = () => undefined;
  expect(driver.append(order(2, "r3"))).toEqual([undefined, undefined]);
  expect(openOn(disk).requests({})).toEqual([request("s", "r1"), request("s", "r3")]);
});

test("requests without frames that were refused are gone, although the disk did not take them back at first", () => {
  const disk = new FakeDisk();
  const driver = openOn(disk);
  driver.append(order(1, "r1"));
  disk.fault = failing("fsyncSync", "/log");
  expect(driver.append({ ...order(2, "r2"), batches: [] })).toEqual([expect.stringMatching(/EIO/)]);
  expect(disk.content(FILE)).toContain("r1");
  expect(driver.requests({})).toEqual([request("s", "r1")]);
  disk.fault = () => undefined;
  expect(driver.append({ batches: [batch("s", 2)], rows: [], sync: true })).toEqual([undefined]);
  expect(disk.content(FILE)).not.toContain("r2");
});

test("a session's ledger goes when retention took its last row", async () => {
  const dir = tempDir();
  const store = await openStore(dir);
  await store.append({ ...order(1), requests: [request("s", "r1", { status: "orphaned" })] });
  await store.prune({ ...NO_LIMITS, maxAgeMs: 1_000 });
  expect(readdirSync(dir)).toEqual(["s.jsonl"]);
  await append(store, batch("s", 2));
});

test("an id that would leave the directory is refused for requests too", async () => {
  const store = await openStore(join(tempDir(), "log"));
  const requests = [request("../x", "r1")];
  expect(await store.append({ batches: [], rows: [], requests, sync: true })).toEqual([expect.any(String)]);
  await expect(store.requests({ session_id: "../x" })).rejects.toMatchObject({ code: "invalid_message" });
});
