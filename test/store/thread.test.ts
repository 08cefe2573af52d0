import { mkdirSync, readdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { openThreadStore, prepareThreadStore, type Recovery } from "../../src/store/index.ts";
import { PATIENT } from "../support/patience.ts";
import { testStore } from "./conformance.ts";
import { append, batch, frame, frames, readAll, row, tempDir } from "./material.ts";
import { type Bundle, bundleWorker } from "./worker-bundle.ts";

let bundle: Bundle;
beforeAll(async () => {
  bundle = await bundleWorker();
});
afterAll(() => bundle.remove());

testStore("sqlite in a thread with its journal", {
  hasTestClock: false,
  open: ({ dir }) => openThreadStore({ path: join(dir, "log.db") }, bundle.url),
});

testStore("sqlite in a thread with JSONL files", {
  hasTestClock: false,
  open: ({ dir }) => {
    return openThreadStore({ path: join(dir, "log.db"), jsonl: { dir: join(dir, "jsonl") } }, bundle.url);
  },
});

test("a prepared store touches no file before it is opened, and its thread can be ended", async () => {
  const dir = tempDir();
  const path = join(dir, "log.db");
  const prepared = prepareThreadStore({ path }, bundle.url);
  const unused = prepareThreadStore({ path }, bundle.url);
  await unused.cancel();
  expect(readdirSync(dir)).toEqual([]);
  const store = await prepared.open();
  await store.saveRow(row("s"));
  expect(await store.loadRow("s")).toMatchObject({ session_id: "s" });
  await store.close();
});

test("it reports how much the database has got", async () => {
  const told: number[] = [];
  const path = join(tempDir(), "log.db");
  const store = await openThreadStore({ path }, bundle.url, { onFolded: (bytes) => void told.push(bytes) });
  await append(store, batch("s", 1, 3));
  await vi.waitFor(() => expect(told.at(-1)).toBeGreaterThan(0), PATIENT);
  await store.close();
});

test("pending calls reject with the reason when the thread dies, and so do later ones", async () => {
  const dir = tempDir();
  const path = join(dir, "dying.mjs");
  writeFileSync(
    path,
    `import { parentPort } from "node:worker_threads";
     parentPort.postMessage({ id: 0, value: { firstJournal: 1 } });
     parentPort.on("message", ({ op }) => { if (op === "rows") throw new Error("disk on fire"); });`,
  );
  const store = await openThreadStore({ path: join(dir, "log.db") }, pathToFileURL(path));
  const waiting = store.loadRow("s");
  await expect(Promise.all([waiting, store.rows()])).rejects.toThrow(/store thread failed: disk on fire/);
  await expect(waiting).rejects.toMatchObject({ code: "internal" });
  await expect(store.saveRow(row("s"))).rejects.toThrow(/disk on fire/);
  await store.close();
});

test("a store that cannot be opened rejects with the driver's code and message", async () => {
  const path = join(tempDir(), "log.db");
  const first = await openThreadStore({ path }, bundle.url);
  const second = openThreadStore({ path }, bundle.url);
  await expect(second).rejects.toMatchObject({ code: "internal", message: expect.stringContaining(path) });
  await first.close();
  const third = await openThreadStore({ path }, bundle.url);
  await third.close();
});

test("a second opener is refused before it touches a journal", async () => {
  const dir = tempDir();
  const path = join(dir, "log.db");
  const first = await openThreadStore({ path }, bundle.url);
  await append(first, batch("s", 1, 3));
  const journal = join(dir, "log.journal-1");
  const before = readFileSync(journal);
  expect(before.length).toBeGreaterThan(0);
  expect(statSync(journal).mode & 0o777).toBe(0o600);
  await expect(openThreadStore({ path }, bundle.url)).rejects.toThrow(/in use/);
  expect(readFileSync(journal)).toEqual(before);
  expect(readdirSync(dir).sort()).toEqual(["log.db", "log.db-wal", "log.journal-1"]);
  await append(first, batch("s", 4));
  await first.close();
  expect(readdirSync(dir)).toEqual(["log.db"]);
});

test("a journal left by a daemon that died is in the log when the store is open, and a torn end is reported", async () => {
  const dir = tempDir();
  const path = join(dir, "log.db");
  const first = await openThreadStore({ path }, bundle.url);
  await append(first, batch("s", 1, 3));
  const left = readFileSync(join(dir, "log.journal-1"));
  await first.close();
  writeFileSync(join(dir, "other.journal-9"), "not ours");
  writeFileSync(join(dir, "log.journal-7"), Buffer.concat([left, Buffer.from("half")]));
  const found: Recovery[] = [];
  const onRecovery = (recovery: Recovery) => found.push(recovery);
  const second = await openThreadStore({ path }, bundle.url, { onRecovery });
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
  const store = await openThreadStore({ path: join(dir, "log.db") }, bundle.url);
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
  const store = await openThreadStore({ path: join(dir, "log.db") }, pathToFileURL(path));
  await append(store, batch("s", 1));
  await expect(store.rows()).rejects.toThrow(/ended with code 3/);
  const { size } = statSync(join(dir, "log.journal-1"));
  await expect(append(store, batch("s", 2))).rejects.toThrow(/ended with code 3/);
  expect(statSync(join(dir, "log.journal-1")).size).toBe(size);
  await store.close();
});

test("an error of a call crosses the thread with its code and leaves the store usable", async () => {
  const store = await openThreadStore({ path: join(tempDir(), "log.db") }, bundle.url);
  const odd = { a: 1 } as unknown as string;
  await expect(store.loadRow(odd)).rejects.toMatchObject({ code: "internal" });
  await append(store, batch("s", 1));
  await store.close();
});

test("repairs are reported through the thread", async () => {
  const dir = tempDir();
  writeFileSync(join(dir, "s.jsonl"), `${frame("s", 1)}{"half`);
  const found: Recovery[] = [];
  const config = { path: join(tempDir(), "log.db"), jsonl: { dir } };
  const store = await openThreadStore(config, bundle.url, { onRecovery: (recovery) => found.push(recovery) });
  expect(await readAll(store, "s")).toBe(frame("s", 1));
  expect(found).toMatchObject([
    { session_id: "s", kept_seq: 1, cut_bytes: 6 },
    { event: "imported", message: expect.stringContaining("1 sessions with 1 events") },
  ]);
  await store.close();
});

test("a synced append is in the JSONL files when it resolves, and closing writes the rest", async () => {
  const dir = join(tempDir(), "jsonl");
  const store = await openThreadStore({ path: join(tempDir(), "log.db"), jsonl: { dir } }, bundle.url);
  const read = (name: string) => readFileSync(join(dir, name), "utf8");
  await append(store, batch("s", 1, 3));
  await store.append({ batches: [batch("s", 4)], rows: [row("s", { turns: 1 })], sync: true });
  expect(read("s.jsonl")).toBe(frames("s", 1, 4));
  expect(read("s.usage.json")).toBe(`${JSON.stringify(row("s", { turns: 1 }))}\n`);
  await append(store, batch("s", 5, 9), batch("t", 1));
  await expect.poll(() => read("s.jsonl")).toBe(frames("s", 1, 9));
  await append(store, batch("s", 10));
  await store.close();
  expect([read("s.jsonl"), read("t.jsonl")]).toEqual([frames("s", 1, 10), frames("t", 1, 1)]);
});

test("JSONL files that cannot be written fail no append, and are complete once they can", async () => {
  const dir = join(tempDir(), "jsonl");
  const found: Recovery[] = [];
  const onRecovery = (recovery: Recovery) => found.push(recovery);
  const config = { path: join(tempDir(), "log.db"), jsonl: { dir } };
  const store = await openThreadStore(config, bundle.url, { onRecovery });
  mkdirSync(join(dir, "s.jsonl"));
  await store.append({ batches: [batch("s", 1, 2), batch("t", 1)], rows: [], sync: true });
  await store.append({ batches: [batch("s", 3)], rows: [], sync: true });
  expect(await readAll(store, "s")).toBe(frames("s", 1, 3));
  expect(readFileSync(join(dir, "t.jsonl"), "utf8")).toBe(frames("t", 1, 1));
  await expect.poll(() => found).toMatchObject([{ event: "export_failed", session_id: "s" }]);
  rmdirSync(join(dir, "s.jsonl"));
  // Without another append: it retries on its own.
  await expect.poll(() => found.at(-1)?.event, { timeout: 20_000 }).toBe("export_resumed");
  expect(readFileSync(join(dir, "s.jsonl"), "utf8")).toBe(frames("s", 1, 3));
  await store.close();
});

test("an append leaves the caller's buffer alone and sends only its view", async () => {
  const store = await openThreadStore({ path: join(tempDir(), "log.db") }, bundle.url);
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

test("appends that overlap, and large ones, keep their bytes", async () => {
  const store = await openThreadStore({ path: join(tempDir(), "log.db") }, bundle.url);
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
  const store = await openThreadStore({ path }, bundle.url);
  const outcome = store.append({ batches: [batch("s", 1, 100)], rows: [], sync: false });
  await Promise.all([store.close(), store.close()]);
  expect(await outcome).toEqual([undefined]);
  expect(statSync(path).size).toBeGreaterThan(4_096);
  expect(() => statSync(`${path}-wal`)).toThrow();
});
