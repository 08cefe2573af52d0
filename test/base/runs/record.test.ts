import { appendFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { RunRecord, readRecord } from "../../../src/base/runs/record.ts";
import { tempDir } from "../../backends/temp-dir.ts";

const dir = tempDir("record");
let files = 0;

function newRecord(): { path: string; record: RunRecord } {
  files += 1;
  const path = join(dir, `record${files}`);
  return { path, record: new RunRecord(path) };
}

test("calls and writes come back in order, and a write is done only if that was recorded", () => {
  const { path, record } = newRecord();
  record.hold({ at: 10, session_id: "s", name: "send", args: [{ text: "a" }] });
  const first = record.write("one");
  record.write("two");
  record.done(first);
  const { calls, writes, last } = readRecord(path, 0);
  expect(calls).toMatchObject([{ n: 1, at: 10, session_id: "s", name: "send", args: [{ text: "a" }] }]);
  expect(writes).toEqual([
    { n: 2, line: "one", isDone: true },
    { n: 3, line: "two", isDone: false },
  ]);
  expect(last).toBe(3);
});

test("a call is written with its first line, or when it is flushed", () => {
  const { path, record } = newRecord();
  const call = { at: 0, session_id: "s", name: "send", args: [] };
  record.hold(call);
  expect(readRecord(path, 0).calls).toEqual([]);
  record.write("one");
  record.hold(call);
  record.flush();
  expect(readRecord(path, 0)).toMatchObject({ calls: [{ n: 1 }, { n: 3 }], writes: [{ n: 2 }], last: 3 });
});

test("a snapshot's entries are not wanted, and later ones keep their numbers in the next daemon", () => {
  const { path, record } = newRecord();
  record.write("one");
  record.close();
  const next = new RunRecord(path, readRecord(path, 0).last);
  next.write("two");
  expect(readRecord(path, 1).writes).toEqual([{ n: 2, line: "two", isDone: false }]);
});

test("after an entry that a kill has torn, the next daemon's entries can be read", () => {
  const { path, record } = newRecord();
  record.write("one");
  record.close();
  appendFileSync(path, '{"write":2,"line":"aaaa');
  const next = new RunRecord(path, readRecord(path, 0).last);
  next.write("two");
  expect(readRecord(path, 0).writes.map(({ n, line }) => [n, line])).toEqual([
    [1, "one"],
    [2, "two"],
  ]);
});

test("it is emptied only when nothing in it is needed", () => {
  const { path, record } = newRecord();
  record.write("one");
  record.write("two");
  record.forget(1);
  expect(readRecord(path, 0).writes).toHaveLength(2);
  record.forget(2);
  expect(statSync(path).size).toBe(0);
  record.write("three");
  expect(readRecord(path, 2)).toMatchObject({ writes: [{ n: 3, line: "three" }], last: 3 });
});

test("an entry that was cut off did not happen; one that is not ours is an error", () => {
  const { path, record } = newRecord();
  record.write("one");
  appendFileSync(path, '{"write":2,"line":"tw');
  expect(readRecord(path, 0).writes).toHaveLength(1);
  writeFileSync(path, "7\n");
  expect(() => readRecord(path, 0)).toThrow("not an object");
});
