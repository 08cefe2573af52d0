import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openThreadStore, type Recovery } from "../../src/store/index.ts";
import { testStore } from "./conformance.ts";
import { append, batch, frame, frames, readAll, row, tempDir } from "./material.ts";
import { type Bundle, bundleWorker } from "./worker-bundle.ts";

let bundle: Bundle;
beforeAll(async () => {
  bundle = await bundleWorker();
});
afterAll(() => bundle.remove());

testStore("sqlite in a thread behind its journal", {
  hasTestClock: false,
  open: ({ dir }) => openThreadStore({ kind: "sqlite", path: join(dir, "log.db") }, bundle.url),
});

testStore("jsonl in a thread", {
  hasTestClock: false,
  open: ({ dir }) => openThreadStore({ kind: "jsonl", path: dir }, bundle.url),
});

test("calls that wait when the thread dies reject with the reason, and so do later ones", async () => {
  const dir = tempDir();
  const path = join(dir, "dying.mjs");
  writeFileSync(
    path,
    `import { parentPort } from "node:worker_threads";
     parentPort.postMessage({ id: 0, value: { firstJournal: 1 } });
     parentPort.on("message", ({ op }) => { if (op === "rows") throw new Error("disk on fire"); });`,
  );
  const store = await openThreadStore({ kind: "sqlite", path: join(dir, "log.db") }, pathToFileURL(path));
  const waiting = store.loadRow("s");
  await expect(Promise.all([waiting, store.rows()])).rejects.toThrow(/store thread failed: disk on fire/);
  await expect(waiting).rejects.toMatchObject({ code: "internal" });
  await expect(store.saveRow(row("s"))).rejects.toThrow(/disk on fire/);
  await store.close();
});

test("a store that cannot be opened rejects with the driver's code and message", async () => {
  const path = join(tempDir(), "log.db");
  const first = await openThreadStore({ kind: "sqlite", path }, bundle.url);
  const second = openThreadStore({ kind: "sqlite", path }, bundle.url);
  await expect(second).rejects.toMatchObject({ code: "internal", message: expect.stringContaining(path) });
  await first.close();
  const third = await openThreadStore({ kind: "sqlite", path }, bundle.url);
  await third.close();
});

test("a second opener is refused before it touches a journal", async () => {
  const dir = tempDir();
  const path = join(dir, "log.db");
  const first = await openThreadStore({ kind: "sqlite", path }, bundle.url);
  await append(first, batch("s", 1, 3));
  const journal = join(dir, "log.journal-1");
  const before = readFileSync(journal);
  expect(before.length).toBeGreaterThan(0);
  expect(statSync(journal).mode & 0o777).toBe(0o600);
  await expect(openThreadStore({ kind: "sqlite", path }, bundle.url)).rejects.toThrow(/in use/);
  expect(readFileSync(journal)).toEqual(before);
  expect(readdirSync(dir).sort()).toEqual(["log.db", "log.db-wal", "log.journal-1"]);
  await append(first, batch("s", 4));
  await first.close();
  expect(readdirSync(dir)).toEqual(["log.db"]);
});

test("a journal left by a daemon that died is in the log when the store is open, and what was torn is reported", async () => {
  const dir = tempDir();
  const path = join(dir, "log.db");
  const first = await openThreadStore({ kind: "sqlite", path }, bundle.url);
  await append(first, batch("s", 1, 3));
  const left = readFileSync(join(dir, "log.journal-1"));
  await first.close();
  writeFileSync(join(dir, "other.journal-9"), "not ours");
  writeFileSync(join(dir, "log.journal-7"), Buffer.concat([left, Buffer.from("half")]));
  const found: Recovery[] = [];
  const onRecovery = (recovery: Recovery) => found.push(recovery);
  const second = await openThreadStore({ kind: "sqlite", path }, bundle.url, { onRecovery });
  // The same frames again: the log has them, so they are refused and kept.
  expect(await readAll(second, "s")).toBe(frames("s", 1, 3));
  expect(found).toMatchObject([
    { session_id: "s", kept_seq: 3 },
    { cut_bytes: 4, aside: expect.stringContaining("log.journal-7.torn-") },
    { aside: expect.stringContaining("log.journal-7.refused-") },
  ]);
  await append(second, batch("s", 4));
  await second.close();
  expect(readdirSync(dir)).toContain("other.journal-9");
});

test("the journal is moved into the database without being asked", async () => {
  const dir = tempDir();
  const store = await openThreadStore({ kind: "sqlite", path: join(dir, "log.db") }, bundle.url);
  await append(store, batch("s", 1));
  const size = () => statSync(join(dir, "log.db-wal")).size;
  const before = size();
  await append(store, batch("s", 2, 400));
  await expect.poll(size).toBeGreaterThan(before);
  await store.close();
});

test("appends reject once the thread is gone, and nothing more is written", async () => {
  const path = join(tempDir(), "dying.mjs");
  writeFileSync(
    path,
    `import { parentPort } from "node:worker_threads";
     parentPort.postMessage({ id: 0, value: { firstJournal: 1 } });
     parentPort.on("message", ({ id, op }) => {
       if (op === "rows") process.exit(3);
       parentPort.postMessage({ id, value: undefined });
     });`,
  );
  const dir = tempDir();
  const store = await openThreadStore({ kind: "sqlite", path: join(dir, "log.db") }, pathToFileURL(path));
  await append(store, batch("s", 1));
  await expect(store.rows()).rejects.toThrow(/ended with code 3/);
  const { size } = statSync(join(dir, "log.journal-1"));
  await expect(append(store, batch("s", 2))).rejects.toThrow(/ended with code 3/);
  expect(statSync(join(dir, "log.journal-1")).size).toBe(size);
  await store.close();
});

test("an error of a call crosses the thread with its code and leaves the store usable", async () => {
  const store = await openThreadStore({ kind: "jsonl", path: tempDir() }, bundle.url);
  await expect(store.loadRow("../x")).rejects.toMatchObject({ code: "invalid_message" });
  await append(store, batch("s", 1));
  await store.close();
});

test("what the driver mended is reported through the thread", async () => {
  const dir = tempDir();
  writeFileSync(join(dir, "s.jsonl"), `${frame("s", 1)}{"half`);
  const found: Recovery[] = [];
  const config = { kind: "jsonl", path: dir } as const;
  const store = await openThreadStore(config, bundle.url, { onRecovery: (recovery) => found.push(recovery) });
  expect(await readAll(store, "s")).toBe(frame("s", 1));
  expect(found).toMatchObject([{ session_id: "s", kept_seq: 1, cut_bytes: 6 }]);
  await store.close();
});

test("an append leaves the caller's buffer alone and sends only its view", async () => {
  const store = await openThreadStore({ kind: "jsonl", path: tempDir() }, bundle.url);
  const pool = Buffer.alloc(100_000, "p");
  const line = frame("s", 1);
  pool.write(line, 500);
  const bytes = pool.subarray(500, 500 + Buffer.byteLength(line));
  await append(store, { session_id: "s", first_seq: 1, last_seq: 1, bytes });
  expect(pool.byteLength).toBe(100_000);
  expect(bytes.toString()).toBe(line);
  expect(await readAll(store, "s")).toBe(line);
  await store.close();
});

test("appends that overlap, and one larger than the shared memory, keep their bytes", async () => {
  const store = await openThreadStore({ kind: "sqlite", path: join(tempDir(), "log.db") }, bundle.url);
  const large = "x".repeat(900_000);
  const batches = [batch("s", 1, 9), batch("s", 10, 12, large), batch("s", 13), batch("s", 14, 400)];
  const outcomes = batches.map((one) => store.append({ batches: [one], rows: [], sync: false }));
  expect(await Promise.all(outcomes)).toEqual(batches.map(() => [undefined]));
  await append(store, batch("s", 401));
  expect(await readAll(store, "s")).toBe(
    frames("s", 1, 9) + frames("s", 10, 12, large) + frames("s", 13, 401),
  );
  await store.close();
});

test("close ends the thread and leaves the SQLite log in one file", async () => {
  const dir = join(tempDir(), "state");
  mkdirSync(dir);
  const path = join(dir, "log.db");
  const store = await openThreadStore({ kind: "sqlite", path }, bundle.url);
  const outcome = store.append({ batches: [batch("s", 1, 100)], rows: [], sync: false });
  await Promise.all([store.close(), store.close()]);
  expect(await outcome).toEqual([undefined]);
  expect(statSync(path).size).toBeGreaterThan(4_096);
  expect(() => statSync(`${path}-wal`)).toThrow();
});
