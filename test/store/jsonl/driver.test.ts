// The JSONL driver's own cases: its files, a disk that fails, and ids that would leave the directory.
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { SessionId, SessionRow } from "../../../src/protocol/session.ts";
import { openInProcessStore, type Store } from "../../../src/store/index.ts";
import { openJsonlDriver } from "../../../src/store/jsonl/driver.ts";
import { isSessionId } from "../../../src/store/session-id.ts";
import type { Driver } from "../../../src/store/types.ts";
import { FakeDisk } from "../disk/fake-disk.ts";
import { append, batch, frame, frames, NO_LIMITS, readAll, row, tempDir, text } from "../material.ts";

async function openStore(path: string): Promise<Store> {
  const store = await openInProcessStore({ kind: "jsonl", path });
  onTestFinished(() => store.close());
  return store;
}

function openOnFake(): { disk: FakeDisk; driver: Driver } {
  const disk = new FakeDisk();
  return { disk, driver: openJsonlDriver("/log", { now: () => 0, onRecovery: () => undefined }, disk) };
}

function store(driver: Driver, first_seq: number, sync = false): string | undefined {
  return driver.append({ batches: [batch("s", first_seq)], rows: [], sync })[0];
}

test("a session has exactly <id>.jsonl and <id>.usage.json, private to the user", async () => {
  const dir = join(tempDir(), "a", "b");
  const log = await openStore(dir);
  await log.append({ batches: [batch("s", 1, 2)], rows: [row("s", { turns: 1 })], sync: true });
  expect(readdirSync(dir).sort()).toEqual(["s.jsonl", "s.usage.json"]);
  expect(readFileSync(join(dir, "s.jsonl"), "utf8")).toBe(frames("s", 1, 2));
  expect(JSON.parse(readFileSync(join(dir, "s.usage.json"), "utf8"))).toEqual(row("s", { turns: 1 }));
  expect(statSync(dir).mode & 0o777).toBe(0o700);
  for (const name of readdirSync(dir)) expect(statSync(join(dir, name)).mode & 0o777).toBe(0o600);
});

test("delete removes the session's files, torn ones too, and no other file", async () => {
  const dir = tempDir();
  const others = [
    "s.txt",
    "s.jsonl.bak",
    "s.jsonl.torn-20260101T000000000Z.jsonl",
    "x.jsonl",
    "s-2.usage.json",
  ];
  for (const name of others) writeFileSync(join(dir, name), "");
  writeFileSync(join(dir, "s.jsonl"), `${frame("s", 1)}torn`);
  const log = await openStore(dir);
  await log.saveRow(row("s"));
  await append(log, batch("s", 2));
  expect(readdirSync(dir)).toHaveLength(others.length + 3);
  await log.delete("s");
  expect(readdirSync(dir).sort()).toEqual(others.sort());
});

test("an older daemon's sidecar with its eight fields and nulls is read", async () => {
  const dir = tempDir();
  const old = {
    session_id: "s",
    model: null,
    turns: 2,
    last_turn_at_ms: 1_700_000_000_000,
    last_turn_usage: { input_tokens: 5 },
    cumulative_usage: { input_tokens: 9, cached: 1 },
    native_session_id: "thread-1",
    rollout_path: "/r.jsonl",
  };
  writeFileSync(join(dir, "s.usage.json"), JSON.stringify(old));
  writeFileSync(join(dir, "s.jsonl"), frames("s", 1, 6));
  const found = await (await openStore(dir)).loadRow("s");
  expect(SessionRow.parse(found)).toEqual(found);
  const { model: _absent, ...kept } = old;
  expect(found).toMatchObject({
    ...kept,
    backend: "codex",
    options: {},
    last_seq: 6,
    started_at_ms: 1_700_000_000_000,
  });
  expect(found).not.toHaveProperty("model");
});

test("a sidecar of nulls only gives a valid row, and fields of a newer daemon survive", async () => {
  const dir = tempDir();
  writeFileSync(
    join(dir, "s.usage.json"),
    `{"session_id":"s","turns":null,"last_turn_usage":null,"later":{"x":1}}`,
  );
  const found = await (await openStore(dir)).loadRow("s");
  expect(SessionRow.safeParse(found).success).toBe(true);
  expect(found).toMatchObject({ turns: 0, last_turn_usage: {}, backend: "claude", later: { x: 1 } });
});

test("a sidecar that is no JSON is put aside and reported, and the log still tells last_seq", async () => {
  const dir = tempDir();
  writeFileSync(join(dir, "s.usage.json"), `{"session_id":"s","tur`);
  writeFileSync(join(dir, "s.jsonl"), frames("s", 1, 3));
  const asides: (string | undefined)[] = [];
  const onRecovery = (recovery: { aside?: string }) => asides.push(recovery.aside);
  const log = await openInProcessStore({ kind: "jsonl", path: dir }, { onRecovery });
  expect(await log.loadRow("s")).toMatchObject({ last_seq: 3 });
  expect(asides).toEqual([expect.stringContaining("s.usage.json.torn-")]);
  expect(readFileSync(asides[0] ?? "", "utf8")).toBe(`{"session_id":"s","tur`);
  await log.close();
});

test("200 ids that would walk out of the directory are refused and touch no file", async () => {
  const dir = join(tempDir(), "log");
  const log = await openStore(dir);
  const parts = [
    "..",
    ".",
    "/",
    "../x",
    "a/b",
    "-rf",
    ".hidden",
    "a\0b",
    "a\\b",
    "%2e%2e",
    "a b",
    "é",
    "",
    "~",
    "a\n",
  ];
  const ids = Array.from({ length: 200 }, (_, n) => {
    return `${parts[n % parts.length]}${n < parts.length ? "" : `/../${n}${parts[(n * 7) % parts.length]}`}`;
  });
  expect(new Set(ids).size).toBe(200);
  for (const id of ids) {
    expect(await log.append({ batches: [batch(id, 1)], rows: [], sync: true })).toEqual([expect.any(String)]);
    await expect(log.delete(id)).rejects.toMatchObject({ code: "invalid_message" });
    await expect(log.saveRow(row(id))).rejects.toMatchObject({ code: "invalid_message" });
    await expect(log.read(id, 0, 1)).rejects.toMatchObject({ code: "invalid_message" });
  }
  expect(readdirSync(join(dir, ".."))).toEqual(["log"]);
  expect(readdirSync(dir)).toEqual([]);
  await append(log, batch("fine_id.1-x", 1));
});

test("this driver's rule for ids is the rule of the protocol", () => {
  const ids = fc.oneof(fc.string(), fc.stringMatching(/^[A-Za-z0-9._/-]{0,140}$/));
  fc.assert(
    fc.property(ids, (id) => isSessionId(id) === SessionId.safeParse(id).success),
    { numRuns: 5_000 },
  );
});

test("a write that the disk shortens is finished, and one it does not finish leaves nothing", () => {
  const { disk, driver } = openOnFake();
  disk.fault = (call) => (call === "writeSync" ? { part: 7 } : undefined);
  expect(store(driver, 1)).toBeUndefined();
  disk.fault = (call) => (call === "writeSync" ? { part: 0 } : undefined);
  expect(store(driver, 2)).toMatch(/wrote only 0 of \d+ bytes/);
  expect(disk.content("/log/s.jsonl")).toBe(frame("s", 1));
});

test("ENOSPC half-way is an outcome, is cut off again, and the next append fits", () => {
  const { disk, driver } = openOnFake();
  expect(store(driver, 1)).toBeUndefined();
  disk.fault = (call) => (call === "writeSync" ? { part: 16, errno: "ENOSPC" } : undefined);
  expect(store(driver, 2)).toMatch(/ENOSPC/);
  expect(disk.content("/log/s.jsonl")).toBe(frame("s", 1));
  disk.fault = () => undefined;
  expect(store(driver, 2)).toBeUndefined();
  expect(disk.content("/log/s.jsonl")).toBe(frames("s", 1, 2));
});

test("refused bytes that cannot be cut off are never read and are cut off before the next append", () => {
  const { disk, driver } = openOnFake();
  expect(store(driver, 1)).toBeUndefined();
  disk.fault = (call) =>
    call === "fdatasyncSync" || call === "ftruncateSync" ? { errno: "EIO" } : undefined;
  const refused = {
    session_id: "s",
    first_seq: 2,
    last_seq: 2,
    bytes: Buffer.from(frame("s", 2, "refused")),
  };
  expect(driver.append({ batches: [refused], rows: [], sync: true })).toEqual([expect.stringMatching(/EIO/)]);
  expect(disk.content("/log/s.jsonl")).toContain("refused");
  expect(text(driver.read("s", 0, 1_000))).toBe(frame("s", 1));
  expect(store(driver, 2)).toMatch(/EIO/);
  disk.fault = () => undefined;
  expect(store(driver, 2)).toBeUndefined();
  expect(disk.content("/log/s.jsonl")).toBe(frames("s", 1, 2));
});

test("a batch whose row cannot be stored is taken back", () => {
  const { disk, driver } = openOnFake();
  disk.fault = (call, path) =>
    call === "renameSync" && path.includes("usage") ? { errno: "EROFS" } : undefined;
  const order = { batches: [batch("s", 1, 3)], rows: [row("s")], sync: true };
  expect(driver.append(order)).toEqual([expect.stringMatching(/EROFS/), expect.stringMatching(/EROFS/)]);
  expect(driver.read("s", 0, 1_000)).toBeUndefined();
  disk.fault = () => undefined;
  expect(driver.append(order)).toEqual([undefined, undefined]);
});

test("a disk that refuses everything gives outcomes, and one session's fault is not another's", () => {
  const { disk, driver } = openOnFake();
  disk.fault = (_call, path) => (path.includes("bad") ? { errno: "EIO" } : undefined);
  const batches = [batch("bad", 1), batch("ok", 1)];
  expect(driver.append({ batches, rows: [row("bad"), row("ok")], sync: true })).toEqual([
    expect.stringMatching(/EIO/),
    undefined,
    expect.stringMatching(/EIO/),
    undefined,
  ]);
  disk.fault = () => ({ errno: "EROFS" });
  expect(store(driver, 1)).toMatch(/EROFS/);
});

test("a torn log on a full disk is read, not lost, and mended when there is room", () => {
  const { disk, driver } = openOnFake();
  disk.put("/log/s.jsonl", Buffer.from(`${frame("s", 1)}torn`));
  disk.fault = (call) => (call === "writeSync" ? { errno: "ENOSPC" } : undefined);
  expect(text(driver.read("s", 0, 1_000))).toBe(frame("s", 1));
  expect(store(driver, 2)).toMatch(/ENOSPC/);
  expect(disk.paths()).toEqual(["/log/s.jsonl"]);
  expect(disk.content("/log/s.jsonl")).toBe(`${frame("s", 1)}torn`);
  disk.fault = () => undefined;
  expect(store(driver, 2)).toBeUndefined();
  expect(disk.paths()).toEqual(["/log/s.jsonl", "/log/s.jsonl.torn-19700101T000000000Z"]);
});

test("at most 64 files are open, and sessions beyond that keep their logs", () => {
  const { disk, driver } = openOnFake();
  const ids = Array.from({ length: 200 }, (_, n) => `s${n}`);
  for (const seq of [1, 2]) {
    for (const id of ids) {
      expect(driver.append({ batches: [batch(id, seq)], rows: [], sync: false })).toEqual([undefined]);
      expect(disk.openHandles).toBeLessThanOrEqual(65);
    }
  }
  for (const id of ids) expect(text(driver.read(id, 0, 1_000))).toBe(frames(id, 1, 2));
  driver.close();
  expect(disk.openHandles).toBe(0);
});

test("reads from the middle of a large log are exact, before and after its front is cut", async () => {
  const dir = tempDir();
  const log = await openStore(dir);
  for (let seq = 1; seq <= 5_000; seq += 100) await append(log, batch("s", seq, seq + 99));
  const again = await openStore(join(dir, "."));
  for (const reader of [log, again]) {
    for (const after of [0, 1, 999, 2_345, 4_998]) {
      expect(text(await reader.read("s", after, 1))).toBe(frame("s", after + 1));
    }
  }
  await log.prune({ ...NO_LIMITS, maxRowsPerSession: 4_000 });
  for (const after of [1_000, 1_001, 2_345, 4_998]) {
    expect(text(await log.read("s", after, 1))).toBe(frame("s", after + 1));
  }
  await append(log, batch("s", 5_001));
  expect(await readAll(log, "s", 4_999)).toBe(frames("s", 5_000, 5_001));
});

test("a directory that cannot be made is an error of opening", async () => {
  const dir = tempDir();
  writeFileSync(join(dir, "file"), "");
  await expect(openInProcessStore({ kind: "jsonl", path: join(dir, "file", "log") })).rejects.toThrow(
    /ENOTDIR/,
  );
  mkdirSync(join(dir, "log"));
  await openStore(join(dir, "log"));
});
