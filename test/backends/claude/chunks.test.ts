import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import { FrameReader } from "../../../src/base/json-lines.ts";
import { readTraces } from "./traces.ts";

const frames = readTraces()
  .slice(0, 12)
  .flatMap((trace) => trace.steps.map(({ msg }) => msg));
const bytes = Buffer.from(
  frames.map((frame) => `${JSON.stringify({ ...frame, note: "ünï☂\u2028" })}\n`).join(""),
);

function read(chunks: Buffer[]): JsonObject[] {
  const out: JsonObject[] = [];
  const reader = new FrameReader(1024 * 1024, {
    frame: (frame) => out.push(frame),
    skipped: (_, reason) => {
      throw new Error(reason);
    },
  });
  for (const chunk of chunks) reader.push(chunk);
  reader.end();
  return out;
}

describe("FrameReader", () => {
  test("the frames do not depend on where the stream was cut", () => {
    const whole = read([bytes]);
    expect(whole).toHaveLength(frames.length);
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 60 }), (cuts) => {
        const marks = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        const chunks = marks.slice(1).map((mark, index) => bytes.subarray(marks[index], mark));
        expect(read(chunks)).toEqual(whole);
      }),
      { numRuns: 50 },
    );
  });

  test("cut after every byte, it is still the same", () => {
    const part = bytes.subarray(0, bytes.indexOf("\n", 4000) + 1);
    expect(read([...part].map((byte) => Buffer.from([byte])))).toEqual(read([part]));
  });

  test("a last line without its newline counts", () => {
    expect(read([Buffer.from('{"a":1}\n{"b":2}')])).toEqual([{ a: 1 }, { b: 2 }]);
  });
});
