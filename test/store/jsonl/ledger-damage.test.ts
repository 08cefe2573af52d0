// A ledger that somebody damaged, or took from another session: what is good in it stays, the rest is read again
// from the log, and no session stops another.
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { RequestRow } from "../../../src/protocol/requests.ts";
import { openInProcessStore, type Recovery, type Store } from "../../../src/store/index.ts";
import { openJsonlDriver } from "../../../src/store/jsonl/driver.ts";
import type { LogBatch } from "../../../src/store/types.ts";
import { FakeDisk } from "../disk/fake-disk.ts";
import { append, batch, NO_LIMITS, request, row, tempDir } from "../material.ts";

async function openStore(path: string, found: Recovery[] = []): Promise<Store> {
  const store = await openInProcessStore({ kind: "jsonl", path }, { onRecovery: (one) => found.push(one) });
  onTestFinished(() => store.close());
  return store;
}

/** The frame that the daemon writes with a row. */
function notice(seq: number, of: RequestRow): LogBatch {
  const { payload: _payload, ...rest } = of;
  const frame = {
    type: "agent.notice",
    session_id: of.session_id,
    seq,
    category: `request_${of.status}`,
    data: { request: of.status === "pending" ? of : rest },
  };
  return toBatch(frame);
}

function toBatch(frame: { session_id: string; seq: number }): LogBatch {
  const { session_id, seq } = frame;
  return { session_id, first_seq: seq, last_seq: seq, bytes: Buffer.from(`${JSON.stringify(frame)}\n`) };
}

/** Stores each row with its frame, from seq 1 on. */
async function tell(store: Store, ...rows: RequestRow[]): Promise<void> {
  for (const [at, one] of rows.entries()) {
    const order = { batches: [notice(at + 1, one)], rows: [], requests: [one], sync: true };
    expect(await store.append(order)).toEqual([undefined, undefined]);
  }
}

function answered(id: string, fields: Partial<RequestRow> = {}): RequestRow {
  return request("s", id, { status: "resolved", answer: { decision: "accept" }, ...fields });
}

const waiting = request("s", "waiting");
const withdrawn = request("s", "gone", { status: "withdrawn", error_code: "request_withdrawn" });
const whole = JSON.stringify({ rows: [waiting, withdrawn] });

test.each([
  ["empty", ""],
  ["half a file", whole.slice(0, 200)],
  ["NULs", "\0".repeat(300)],
  ["a list", "[]"],
  ["without rows", "{}"],
  ["a row without its payload", JSON.stringify({ rows: [{ ...waiting, payload: undefined }] })],
  ["a row of an unknown status", JSON.stringify({ rows: [{ ...waiting, status: "weird" }, withdrawn] })],
  ["rows that wait for no seq", JSON.stringify({ rows: [], next: { rows: [waiting] } })],
  ["one that only lost a row's number", JSON.stringify({ rows: [{ ...waiting, requested_at_ms: "1" }] })],
])("a ledger that is %s is put aside, and written anew as the log tells it", async (_name, content) => {
  const dir = tempDir();
  const file = join(dir, "s.requests.json");
  const before = await openStore(dir);
  await tell(before, { ...withdrawn, status: "pending" }, waiting, withdrawn);
  await before.close();
  writeFileSync(file, content);
  const found: Recovery[] = [];
  const store = await openStore(dir, found);
  expect(await store.requests({ open: true })).toEqual([waiting]);
  expect(await store.requests({})).toEqual([withdrawn, waiting]);
  const aside = expect.stringContaining("s.requests.json.torn-");
  const message = expect.stringContaining("written anew");
  expect(found).toEqual([
    { session_id: "s", kept_seq: 0, cut_bytes: Buffer.byteLength(content), aside, message },
  ]);
  expect(readFileSync(found[0]?.aside ?? "", "utf8")).toBe(content);
  expect(JSON.parse(readFileSync(file, "utf8")).rows).toHaveLength(2);
  await store.append({ batches: [batch("s", 4)], rows: [], requests: [request("s", "z")], sync: true });
  expect(await store.requests({ open: true })).toHaveLength(2);
  await store.delete("s");
  expect(readdirSync(dir)).toEqual([]);
});

test("a damaged ledger of a session without a log leaves nothing but what was put aside", async () => {
  const dir = tempDir();
  writeFileSync(join(dir, "s.requests.json"), "{");
  const store = await openStore(dir);
  expect(await store.requests({})).toEqual([]);
  expect(readdirSync(dir)).toEqual([expect.stringContaining("s.requests.json.torn-")]);
  await store.append({ batches: [batch("s", 1)], rows: [], requests: [waiting], sync: true });
  expect(await store.requests({})).toEqual([waiting]);
});

test("good rows of a damaged ledger stay as they were: the log does not know when an agent got its answer", async () => {
  const dir = tempDir();
  const dispatched = answered("done", { dispatched_at_ms: 7 });
  const before = await openStore(dir);
  await tell(before, waiting, request("s", "done"), answered("done"));
  await before.close();
  writeFileSync(join(dir, "s.requests.json"), JSON.stringify({ rows: [dispatched, { bad: true }] }));
  const store = await openStore(dir);
  expect(await store.requests({})).toEqual([dispatched, waiting]);
  expect(await store.requests({ open: true })).toEqual([waiting]);
});

test("a row that the damaged ledger has in an older state than the log is the log's", async () => {
  const dir = tempDir();
  const before = await openStore(dir);
  await tell(before, request("s", "r"), answered("r"));
  await before.close();
  writeFileSync(join(dir, "s.requests.json"), JSON.stringify({ rows: [request("s", "r"), 7] }));
  expect(await (await openStore(dir)).requests({})).toEqual([answered("r")]);
});

test("what had moved to the settled rows does not come back from the log as open", async () => {
  const dir = tempDir();
  const before = await openStore(dir);
  const all = Array.from({ length: 10 }, (_, n) => answered(`r${n}`));
  await tell(before, ...all.map((one) => request("s", one.request_id)), ...all);
  const done = all.map((one) => ({ ...one, dispatched_at_ms: 7 }));
  await before.append({ batches: [], rows: [], requests: done, sync: true });
  await before.append({ batches: [batch("s", 21)], rows: [], requests: [waiting], sync: true });
  await before.close();
  writeFileSync(join(dir, "s.requests.json"), "");
  const store = await openStore(dir);
  expect(await store.requests({ open: true })).toEqual([]);
  expect(await store.requests({})).toEqual(done);
});

test("what was answered in a turn that is over is not open again, what waits still is", async () => {
  const dir = tempDir();
  const before = await openStore(dir);
  await tell(before, waiting, request("s", "r"), answered("r"));
  await append(before, toBatch({ ...{ type: "agent.result" }, session_id: "s", seq: 4 }));
  await before.close();
  writeFileSync(join(dir, "s.requests.json"), "");
  expect(await (await openStore(dir)).requests({})).toEqual([waiting]);
});

test("an answer that is masked in the log does not become the answer", async () => {
  const dir = tempDir();
  const payload = {
    title: "t",
    questions: [{ id: "q", question: "?", is_secret: true }],
    choices: [{ decision: "accept" as const }],
  };
  const masked = answered("r", { payload, answer: { answers: { q: "[secret]" } } });
  const before = await openStore(dir);
  await tell(before, request("s", "r", { payload }), masked);
  await before.close();
  writeFileSync(join(dir, "s.requests.json"), "");
  const { answer: _masked, ...rest } = masked;
  expect(await (await openStore(dir)).requests({})).toEqual([rest]);
});

test("frames that only look like those of requests, or are of another session, make no rows", async () => {
  const dir = tempDir();
  const before = await openStore(dir);
  const fakes = [
    { type: "agent.delta", category: "request_pending", data: { request: waiting } },
    { type: "agent.notice", category: "request_refused", data: { request: waiting } },
    { type: "agent.notice", category: "request_pending", data: { request: request("t", "r") } },
    { type: "agent.notice", category: "request_resolved", data: { request: { request_id: "x" } } },
    { type: "agent.notice", category: "request_pending", data: '"request_pending"' },
  ];
  for (const [at, fake] of fakes.entries()) {
    await append(before, toBatch({ ...fake, session_id: "s", seq: at + 1 }));
  }
  await before.close();
  writeFileSync(join(dir, "s.requests.json"), "");
  expect(await (await openStore(dir)).requests({})).toEqual([]);
});

test("the ledger of another session is put aside, its own is read from the log, and no list fails", async () => {
  const dir = tempDir();
  const before = await openStore(dir);
  const other = request("t", "of-t", { requested_at_ms: 1 });
  await tell(before, waiting);
  await tell(before, other);
  await before.close();
  copyFileSync(join(dir, "t.requests.json"), join(dir, "s.requests.json"));
  const found: Recovery[] = [];
  const store = await openStore(dir, found);
  expect(await store.requests({ open: true })).toEqual([other, waiting]);
  expect(found).toEqual([expect.objectContaining({ session_id: "s", aside: expect.any(String) })]);
  expect(await store.request("s", "of-t")).toBeUndefined();
  await append(store, batch("s", 2));
});

test("requests that a file system without case gave to two sessions are refused, not cut, and left out of lists", async () => {
  const dir = tempDir();
  const content = `${JSON.stringify({ rows: [request("S", "r1")] })}\n`;
  writeFileSync(join(dir, "s.requests.json"), content);
  const found: Recovery[] = [];
  const store = await openStore(dir, found);
  await tell(store, request("other", "r2"));
  const order = { batches: [], rows: [], requests: [request("s", "r2")], sync: true };
  expect(await store.append(order)).toEqual([expect.stringMatching(/are those of S; use ids that differ/)]);
  for (let n = 0; n < 3; n += 1) expect(await store.requests({})).toEqual([request("other", "r2")]);
  await store.prune({ ...NO_LIMITS, maxAgeMs: 1 });
  const message = expect.stringMatching(/left out: .* are those of S/);
  expect(found).toEqual([{ session_id: "s", kept_seq: 0, cut_bytes: 0, message }]);
  expect(readFileSync(join(dir, "s.requests.json"), "utf8")).toBe(content);
});

test("rows read again from the log are told although the disk does not take them, and written when it does", () => {
  const disk = new FakeDisk();
  const open = () => openJsonlDriver("/log", { now: () => 0, onRecovery: () => undefined }, disk);
  open().append({ batches: [notice(1, waiting)], rows: [row("s")], requests: [waiting], sync: true });
  disk.put("/log/s.requests.json", Buffer.from("{"));
  const driver = open();
  disk.fault = (call, path) =>
    call === "renameSync" && path.includes("requests") ? { errno: "EIO" } : undefined;
  expect(driver.requests({})).toEqual([waiting]);
  disk.fault = () => undefined;
  expect(disk.content("/log/s.requests.json")).toBe("{");
  expect(driver.append({ batches: [batch("s", 2)], rows: [], sync: true })).toEqual([undefined]);
  expect(JSON.parse(disk.content("/log/s.requests.json") ?? "")).toEqual({ rows: [waiting] });
});

test("a process that dies while a damaged ledger is written anew has not lost it", () => {
  const disk = new FakeDisk();
  const open = () => openJsonlDriver("/log", { now: () => 0, onRecovery: () => undefined }, disk);
  open().append({ batches: [notice(1, waiting)], rows: [], requests: [waiting], sync: true });
  disk.put("/log/s.requests.json", Buffer.from("{"));
  disk.fault = (call, path) =>
    call === "writeSync" && path.endsWith("json.tmp") ? { errno: "EIO" } : undefined;
  expect(open().requests({})).toEqual([waiting]);
  disk.kill();
  expect(open().requests({})).toEqual([waiting]);
});
