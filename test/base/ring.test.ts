// The newest frames of a session: exact in frames, whatever batches they came in.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Ring, type SeqBatch, sliceFrom } from "../../src/base/ring.ts";

function batch(first_seq: number, last_seq: number): SeqBatch {
  let text = "";
  for (let seq = first_seq; seq <= last_seq; seq += 1) text += `{"seq":${seq}}\n`;
  return { first_seq, last_seq, bytes: Buffer.from(text) };
}

function seqsIn(part: SeqBatch | undefined): number[] {
  const text = part?.bytes.toString() ?? "";
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line).seq as number);
}

/** Everything after `seq`, read batch by batch as a feed does. */
function drain(ring: Ring<SeqBatch>, seq: number): number[] {
  const seen: number[] = [];
  for (let part = ring.after(seq); part !== undefined; part = ring.after(part.last_seq)) {
    const seqs = seqsIn(part);
    expect([seqs[0], seqs.at(-1)]).toEqual([part.first_seq, part.last_seq]);
    seen.push(...seqs);
  }
  return seen;
}

describe("a ring of four frames", () => {
  test("is empty at first", () => {
    const ring = new Ring<SeqBatch>(4);
    expect(ring.firstSeq).toBeUndefined();
    expect(ring.after(0)).toBeUndefined();
  });

  test("returns the frames after a seq, also from the middle of a batch", () => {
    const ring = new Ring<SeqBatch>(4);
    ring.push(batch(1, 3));
    ring.push(batch(4, 4));
    expect(ring.firstSeq).toBe(1);
    expect(drain(ring, 1)).toEqual([2, 3, 4]);
    expect(drain(ring, 4)).toEqual([]);
  });

  test("drops the oldest frames, and reports the first one it still has", () => {
    const ring = new Ring<SeqBatch>(4);
    ring.push(batch(1, 3));
    ring.push(batch(4, 6));
    expect(ring.firstSeq).toBe(3);
    expect(drain(ring, 0)).toEqual([3, 4, 5, 6]);
  });

  test("a batch bigger than the ring leaves its tail", () => {
    const ring = new Ring<SeqBatch>(4);
    ring.push(batch(1, 10));
    expect(ring.firstSeq).toBe(7);
    expect(drain(ring, 2)).toEqual([7, 8, 9, 10]);
  });
});

test("sliceFrom cuts at a frame, not inside one", () => {
  expect(seqsIn(sliceFrom(batch(5, 8), 7))).toEqual([7, 8]);
  expect(sliceFrom(batch(5, 8), 5)).toEqual(batch(5, 8));
});

test("whatever the batches are, the ring holds exactly the newest frames", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), fc.array(fc.integer({ min: 1, max: 9 })), (size, sizes) => {
      const ring = new Ring<SeqBatch>(size);
      let last = 0;
      for (const count of sizes) {
        ring.push(batch(last + 1, last + count));
        last += count;
      }
      const all = Array.from({ length: last }, (_, index) => index + 1);
      expect(drain(ring, 0)).toEqual(all.slice(-size));
    }),
  );
});
