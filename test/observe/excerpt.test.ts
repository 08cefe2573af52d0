import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cutText, keepTail, PAYLOAD_BYTES, toExcerpt, toOneLine } from "../../src/observe/excerpt.ts";

describe("an excerpt", () => {
  test("of a small payload is the payload", () => {
    const payload = { tool: "Bash", input: { command: "ls" }, output: ["a", null, 1, true] };
    expect(JSON.parse(toExcerpt(payload))).toEqual(payload);
  });

  test("of any payload stays within its bytes and is valid JSON", () => {
    fc.assert(
      fc.property(
        fc.json({ stringUnit: "binary", maxDepth: 8 }),
        fc.integer({ min: 1, max: 60 }),
        (json, times) => {
          const one: unknown = JSON.parse(json);
          const text = toExcerpt({ all: Array.from({ length: times }, () => one) });
          expect(Buffer.byteLength(text)).toBeLessThanOrEqual(PAYLOAD_BYTES);
          JSON.parse(text);
        },
      ),
      { numRuns: 200 },
    );
  });

  test("says where something was cut, and how much", () => {
    const { output } = JSON.parse(toExcerpt({ output: "x".repeat(5000) }));
    expect(output).toMatch(/^x{1200}…\[cut 3800 chars\]$/);
    const { list } = JSON.parse(toExcerpt({ list: Array.from({ length: 40 }, (_, n) => n) }));
    expect(list.at(-1)).toBe("…[cut 8 more]");
  });

  test("never ends in a lone surrogate", () => {
    const smiles = "😀".repeat(2000);
    for (const text of [
      toExcerpt({ a: `x${smiles}` }),
      toExcerpt({ a: smiles }),
      cutText(smiles, 7),
      toOneLine(smiles, 9),
    ])
      expect(text).not.toMatch(/\p{Surrogate}/u);
    expect(keepTail(`x${smiles}`, 3)).toBe("😀");
  });

  test("lists the keys of an object once, no matter how often it is cut", () => {
    let lists = 0;
    const text = "ä".repeat(1000);
    const large = new Proxy(Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`k${n}`, text])), {
      ownKeys: (target) => {
        lists += 1;
        return Reflect.ownKeys(target);
      },
    });
    expect(JSON.parse(toExcerpt(large))["…"]).toBe("[cut 34 more]");
    expect(lists).toBe(1);
  });

  test("of a large payload costs the same as of a small one", () => {
    let reads = 0;
    const counting = (value: object) =>
      new Proxy(value, {
        get: (target, key) => {
          reads += 1;
          return Reflect.get(target, key) as unknown;
        },
      });
    toExcerpt(
      Object.fromEntries(Array.from({ length: 32 }, (_, n) => [n, counting({ ...Array(10_000).fill("x") })])),
    );
    expect(reads).toBeLessThan(2000);
  });
});

test("one line is one line, of the requested length", () => {
  expect(toOneLine("a\n\t b  c", 80)).toBe("a b c");
  expect(toOneLine("word ".repeat(100), 20)).toHaveLength(20);
  expect(toOneLine("x".repeat(10_000), 20)).toBe(`${"x".repeat(19)}…`);
});
