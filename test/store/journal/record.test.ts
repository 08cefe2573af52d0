import { expect, test } from "vitest";
import { decodeRecord, RecordWriter } from "../../../src/store/journal/record.ts";
import { batch, marked, request, row } from "../material.ts";
import { forEachSeed, seedCount } from "../random.ts";

const writer = new RecordWriter();
const record = {
  at_ms: 5,
  batches: [marked(batch("s", 1, 3, "é\u2028🜁"), 'r"\\ é\u2028', 5_000_000_001), batch("t", 7)],
  rows: [row("s", { title: "ü" })],
  requests: [request("s", "r1"), request("t", "r2", { status: "withdrawn" })],
};

test("a record is read back unchanged, and what follows is not touched", () => {
  const bytes = Buffer.from(writer.encode(record));
  const found = decodeRecord(Buffer.concat([bytes, Buffer.from("rest")]));
  expect(found).toEqual({ record, length: bytes.length });
});

test("a record larger than the scratch buffer is read back too, and one without frames", () => {
  const large = batch("s", 1, 3, "x".repeat(400_000));
  const found = decodeRecord(Buffer.from(writer.encode({ ...record, batches: [large] })));
  expect(Buffer.compare(found?.record.batches[0]?.bytes ?? Buffer.alloc(0), large.bytes)).toBe(0);
  const empty = { ...record, batches: [] };
  expect(decodeRecord(Buffer.from(writer.encode(empty)))?.record).toEqual(empty);
});

test("a record without requests is the record of a daemon without a ledger", () => {
  const { requests: _none, ...old } = record;
  const bytes = Buffer.from(writer.encode(old));
  const headEnd = 16 + bytes.readUInt32LE(12);
  const head = JSON.parse(bytes.toString("utf8", 16, headEnd)) as object;
  expect(Object.keys(head)).toEqual(["at_ms", "batches", "rows"]);
  expect(decodeRecord(bytes)?.record).toStrictEqual(old);
  expect(Buffer.from(writer.encode({ ...old, requests: [] }))).toEqual(bytes);
});

test("a batch without a run mark is the batch of a daemon without marks", () => {
  const bytes = Buffer.from(writer.encode({ at_ms: 5, batches: [batch("s", 1)], rows: [] }));
  const headEnd = 16 + bytes.readUInt32LE(12);
  const head = JSON.parse(bytes.toString("utf8", 16, headEnd)) as { batches: object[] };
  expect(Object.keys(head.batches[0] ?? {})).toEqual(["session_id", "first_seq", "last_seq", "size"]);
  expect(decodeRecord(bytes)?.record.batches[0]).not.toHaveProperty("run");
});

test("any batches, with and without run marks, are read back unchanged", () => {
  forEachSeed(seedCount(300), (random) => {
    const batches = Array.from({ length: random(5) }, (_, n) => {
      const first_seq = 1 + random(1_000);
      const plain = batch(`s"${n}`, first_seq, first_seq + random(3), "🜁".repeat(random(9)));
      const run_id = String.fromCharCode(random(0x2100), 0x22, 0x5c, random(0x2100));
      const [out, err, last] = [random(2 ** 53), random(2 ** 53), random(2 ** 53)];
      return random(2) === 0 ? plain : { ...plain, run: { run_id, out, err, n: last } };
    });
    const any = { at_ms: random(2 ** 41), batches, rows: random(2) === 0 ? [] : [row("s")] };
    expect(decodeRecord(Buffer.from(writer.encode(any)))?.record).toStrictEqual(any);
  });
});

test("a record cut at any byte is invalid", () => {
  const bytes = Buffer.from(writer.encode(record));
  for (let end = 0; end < bytes.length; end += 1)
    expect(decodeRecord(bytes.subarray(0, end))).toBeUndefined();
});

test("a record with a changed byte, or a hole of NULs, is invalid", () => {
  const bytes = Buffer.from(writer.encode(record));
  forEachSeed(seedCount(2_000), (random) => {
    const spoilt = Buffer.from(bytes);
    const at = random(bytes.length);
    if (random(2) === 0) spoilt[at] = (spoilt[at] ?? 0) ^ (1 + random(255));
    else spoilt.fill(0, at, Math.min(bytes.length, at + 1 + random(30)));
    if (!spoilt.equals(bytes)) expect(decodeRecord(spoilt)).toBeUndefined();
  });
});
