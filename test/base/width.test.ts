import fc from "fast-check";
import stringWidth from "string-width";
import { expect, test } from "vitest";
import { cutToWidth, measureWidth, padToWidth } from "../../src/base/width.ts";
import { runs } from "../support/sizes.ts";

const PARTS = [
  "日本",
  "e\u0301",
  "\u{1f44d}\u{1f3fd}",
  "\u1100\u1161",
  "\u1161",
  "ﾞ",
  "1\u20e3",
  "❤\ufe0f",
  "ก็",
  "क्षि",
  "a",
];
const anyText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 120 }),
  fc.string({ unit: "grapheme", maxLength: 120 }),
  fc.array(fc.constantFrom(...PARTS)).map((parts) => parts.join("")),
);

test("no text is measured narrower than by string-width, and plain letters are measured the same", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      // string-width strips escape sequences; we count what follows the ESC.
      expect(measureWidth(text)).toBeGreaterThanOrEqual(stringWidth(text));
      const plain = text.replace(/[^ -~à-ÿ日本語ぁ-んα-ωа-я─…✓]/gu, "x");
      expect(measureWidth(plain)).toBe(stringWidth(plain));
    }),
    runs(200),
  );
});

// As tmux 3 moves the cursor.
test.each([
  ["\u{1f44d}\u{1f3fd}", 4],
  ["हिन्दी", 5],
  ["क्षि", 3],
  ["กำ", 2],
  ["\u{1f1e9}\u{1f1ea}", 2],
  ["한국어", 6],
  ["\u1112\u1161\u11ab", 2],
  ["e\u0301", 1],
  ["❤\ufe0f", 2],
  ["1\ufe0f\u20e3", 2],
])("%s takes %i columns", (text, columns) => {
  expect(measureWidth(text)).toBe(columns);
});

test("a long text is as wide as its parts, wherever it is split to be measured", () => {
  for (const part of ["a\u{1f44d}\u{1f3fd}", "क्षि", "日e\u0301"])
    expect(measureWidth(part.repeat(1_000))).toBe(1_000 * measureWidth(part));
});

test("text is padded and cut to columns, never inside a grapheme", () => {
  expect(padToWidth("日本", 6)).toBe("日本  ");
  expect(cutToWidth("日本語", 6)).toBe("日本語");
  expect(cutToWidth("日本語", 5)).toBe("日本…");
  expect(cutToWidth("日本語", 4)).toBe("日…");
  expect(cutToWidth(`${"\u0301".repeat(100_000)}abc`, 2).length).toBeLessThan(40);
});
