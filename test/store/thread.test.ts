import { mkdirSync, statSync, writeFileSync } from "node:fs";
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

testStore("sqlite in a thread", {
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
  const store = await openThreadStore({ kind: "sqlite", path: "unused" }, pathToFileURL(path));
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
