// An agent's lines: those too large to parse are set aside, and nothing is lost silently.
import { describe, expect, test } from "vitest";
import { MAX_VALUES } from "../../src/base/json.ts";
import { FrameReader, type LineAside } from "../../src/base/json-lines.ts";
import { hasMoreValues, readOutline } from "../../src/base/json-outline.ts";

interface Skipped {
  size: number;
  reason: string;
  aside: LineAside | undefined;
}

function read(line: string): { frames: object[]; skipped: Skipped[] } {
  const frames: object[] = [];
  const skipped: Skipped[] = [];
  const reader = new FrameReader(64 * 1024 * 1024, {
    frame: (frame) => frames.push(frame),
    skipped: (size, reason, aside) => skipped.push({ size, reason, aside }),
  });
  reader.push(Buffer.from(`${line}\n`));
  return { frames, skipped };
}

const listOf = (count: number): string => `{"type":"result","list":[${"1,".repeat(count - 1)}1],"id":7}`;

describe("a line of many values", () => {
  test("within the limit is a frame", () => {
    expect(read(listOf(MAX_VALUES - 10)).frames).toHaveLength(1);
  });

  test("past the limit is not parsed: its size, its text and its top-level scalars are kept", () => {
    const line = listOf(MAX_VALUES + 1);
    const { frames, skipped } = read(line);
    expect(frames).toEqual([]);
    expect(skipped).toMatchObject([
      {
        size: line.length,
        reason: "it has more than 50000 values",
        aside: { data: { text: line, is_cut: false } },
      },
    ]);
    expect([...(skipped[0]?.aside?.outline ?? [])]).toEqual([
      ["type", "result"],
      ["list", undefined],
      ["id", 7],
    ]);
  });

  test("of several megabytes keeps its beginning and is marked as cut, without a lone surrogate at its end", () => {
    const line = `{"a":[${'"🦀",'.repeat(600_000)}1]}`;
    const data = read(line).skipped[0]?.aside?.data;
    expect(data).toMatchObject({ size: line.length, is_cut: true });
    expect(data?.text.length).toBeLessThanOrEqual(1024 * 1024);
    expect(line.startsWith(data?.text ?? "?")).toBe(true);
    expect(/\p{Surrogate}/u.test(data?.text ?? "")).toBe(false);
  });

  test("is not one whose commas, brackets and quotes are inside a string", () => {
    const text = ',[{"\\"'.repeat(100_000);
    expect(read(JSON.stringify({ text })).frames).toEqual([{ text }]);
  });
});

test("values are counted outside strings, whatever the nesting", () => {
  const nested = `{"a":${'{"b":['.repeat(100)}${"]}".repeat(100)},"c":[${"{},".repeat(300)}1]}`;
  expect(hasMoreValues(nested, 300)).toBe(true);
  expect(hasMoreValues(`["${",".repeat(5000)}"]`, 300)).toBe(false);
  expect(hasMoreValues(`["${'\\\\\\"'.repeat(5000)}",1]`, 300)).toBe(false);
});

test("an outline has the keys of the outermost object only, and a truncated text does not fail", () => {
  const outline = readOutline(
    '{"jsonrpc":"2.0", "id" : "x\\"y" ,"result":{"method":"no","id":2},"n":-1.5e3,"ok":true}',
  );
  expect([...outline]).toEqual([
    ["jsonrpc", "2.0"],
    ["id", 'x"y'],
    ["result", undefined],
    ["n", -1500],
    ["ok", true],
  ]);
  expect([...readOutline('{"a":"never ends')]).toEqual([["a", undefined]]);
  expect([...readOutline('no JSON: "a":')]).toEqual([]);
});

test("the outline of invalid JSON has what can be read of it, and never throws", () => {
  const broken = '{"a":1.2.3,"\\x":1,"b":1e,"c":"\\q","d":2';
  expect([...readOutline(broken)]).toEqual([
    ["a", undefined],
    ["undefined", 1],
    ["b", undefined],
    ["c", undefined],
    ["d", undefined],
  ]);
});

test.each([
  ["is not JSON", Buffer.from('{"type":"result","cost":NaN}\n')],
  ["is not UTF-8", Buffer.from('{"type":"result","text":"\xff"}\n', "latin1")],
  ["is nested too deep", Buffer.from(`{"type":"result","deep":${"[".repeat(600)}${"]".repeat(600)}}\n`)],
  ["is longer than 2000 bytes", Buffer.from(`{"type":"result","text":"${"x".repeat(3000)}"}\n`)],
])("an object that %s is skipped with its outline", (reason, line) => {
  for (const pieces of [[line], [line.subarray(0, line.length / 2), line.subarray(line.length / 2)]]) {
    const skipped: Skipped[] = [];
    const reader = new FrameReader(2000, {
      frame: () => expect.unreachable(),
      skipped: (size, why, aside) => skipped.push({ size, reason: why, aside }),
    });
    for (const piece of pieces) reader.push(piece);
    expect(skipped).toMatchObject([{ reason: `it ${reason}` }]);
    expect(skipped[0]?.aside?.outline.get("type")).toBe("result");
  }
});

test("a line that is not an object, or that was cut by the end of the stream, has no outline", () => {
  const skipped: (LineAside | undefined)[] = [];
  const reader = new FrameReader(2000, {
    frame: () => expect.unreachable(),
    skipped: (_size, _why, aside) => skipped.push(aside),
  });
  reader.push(Buffer.from('INFO {"type":"result"}\n{"type":"result","te'));
  reader.end();
  expect(skipped).toEqual([undefined, undefined]);
});
