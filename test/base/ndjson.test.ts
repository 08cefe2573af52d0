// Lines from bytes: only 0x0A splits, complete lines are decoded, nothing grows without bound.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LineSplitter } from "../../src/base/ndjson.ts";

type Seen = ["line", string] | ["bad", string] | ["oversize"];

function collect(maxBytes: number): { splitter: LineSplitter; seen: Seen[] } {
  const seen: Seen[] = [];
  const splitter = new LineSplitter(maxBytes, {
    line: (text) => seen.push(["line", text]),
    badLine: (bytes) => seen.push(["bad", bytes.toString("hex")]),
    oversize: () => seen.push(["oversize"]),
  });
  return { splitter, seen };
}

function split(maxBytes: number, chunks: readonly Uint8Array[]): Seen[] {
  const { splitter, seen } = collect(maxBytes);
  for (const chunk of chunks) splitter.push(Buffer.from(chunk));
  return seen;
}

function cut(bytes: Buffer, at: readonly number[]): Buffer[] {
  const points = [...new Set(at.map((n) => n % (bytes.length + 1)))].sort((a, b) => a - b);
  return [...points, bytes.length].map((end, index) => bytes.subarray(points[index - 1] ?? 0, end));
}

describe("lines", () => {
  test("several lines of one chunk come in order, an empty one too", () => {
    expect(split(100, [Buffer.from("a\n\nb\n")])).toEqual([
      ["line", "a"],
      ["line", ""],
      ["line", "b"],
    ]);
  });

  test("a caller may reuse its chunk, even while a line is handled", () => {
    const seen: string[] = [];
    const chunk = Buffer.from("first\nsec");
    const splitter = new LineSplitter(100, {
      line: (text) => {
        seen.push(text);
        chunk.fill("x");
      },
    });
    splitter.push(chunk);
    splitter.push(Buffer.from("ond\n"));
    expect(seen).toEqual(["first", "second"]);
  });

  test("U+2028, U+2029, U+0085, CR and form feed do not end a line", () => {
    const text = "a\u2028b\u2029c\u0085d\re\ff";
    expect(split(100, [Buffer.from(`${text}\n`)])).toEqual([["line", text]]);
  });

  test("a character split between two chunks is restored", () => {
    const bytes = Buffer.from("🦀 ☂\n");
    const everyByte = [...bytes].map((byte) => Buffer.from([byte]));
    expect(split(100, everyByte)).toEqual([["line", "🦀 ☂"]]);
  });

  test("a line that is not UTF-8 is reported as such, and its neighbours in the same chunk are kept", () => {
    const chunk = Buffer.concat([Buffer.from("ok\n"), Buffer.from([0xe2, 0x82, 0x0a]), Buffer.from("ok2\n")]);
    expect(split(100, [chunk])).toEqual([
      ["line", "ok"],
      ["bad", "e282"],
      ["line", "ok2"],
    ]);
  });

  test("the text after the last newline is the rest, and is returned once", () => {
    const { splitter, seen } = collect(100);
    splitter.push(Buffer.from("a\nha"));
    splitter.push(Buffer.from("lf"));
    expect(splitter.rest().toString()).toBe("half");
    expect(splitter.rest().length).toBe(0);
    expect(seen).toEqual([["line", "a"]]);
  });
});

describe("the limit", () => {
  test("a line of exactly the limit passes, one byte more is oversize", () => {
    expect(split(4, [Buffer.from("1234\n")])).toEqual([["line", "1234"]]);
    expect(split(4, [Buffer.from("12345\n")])).toEqual([["oversize"]]);
  });

  test("an oversize line in one chunk is reported once and the next line is read", () => {
    expect(split(8, [Buffer.from(`${"x".repeat(50)}\nok\n`)])).toEqual([["oversize"], ["line", "ok"]]);
  });

  test("an oversize line in many chunks is reported as soon as it is known, and once", () => {
    const { splitter, seen } = collect(8);
    for (let n = 0; n < 3; n += 1) splitter.push(Buffer.from("xxxx"));
    expect(seen).toEqual([["oversize"]]);
    for (let n = 0; n < 1000; n += 1) splitter.push(Buffer.from("xxxx"));
    splitter.push(Buffer.from("x\nok\n"));
    expect(seen).toEqual([["oversize"], ["line", "ok"]]);
  });

  test("the oversize part is not kept: nothing is left as rest", () => {
    const { splitter } = collect(8);
    splitter.push(Buffer.from("x".repeat(100)));
    expect(splitter.rest().length).toBe(0);
  });
});

test("how the bytes are cut into chunks makes no difference", () => {
  const piece = fc.oneof(
    fc.string({ maxLength: 12, unit: "binary" }).map((text) => Buffer.from(text)),
    fc.uint8Array({ maxLength: 6 }).map((bytes) => Buffer.from(bytes)),
    fc.constantFrom(Buffer.from("\n"), Buffer.from("\u2028"), Buffer.from([0xf0, 0x9f]), Buffer.from([0])),
  );
  const input = fc.array(piece, { maxLength: 30 }).map((pieces) => Buffer.concat(pieces));
  fc.assert(
    fc.property(input, fc.array(fc.nat(300), { maxLength: 12 }), (bytes, points) => {
      const whole = Buffer.concat([bytes, Buffer.from("\n")]);
      expect(split(16, cut(whole, points))).toEqual(split(16, [whole]));
    }),
    { numRuns: 1000 },
  );
});
