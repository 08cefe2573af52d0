// What holds for any text: no row is too wide, nothing is lost, and what came in pieces looks like what came at once.
import fc from "fast-check";
import stringWidth from "string-width";
import { describe, expect, test } from "vitest";
import type { Entry } from "../../../src/client/view/types.ts";
import { createFeedLayout } from "../../../src/tui/rows/index.ts";
import { createPiece } from "../../../src/tui/rows/style.ts";
import { cutLine, measureLine, wrapHard, wrapWords } from "../../../src/tui/rows/wrap.ts";
import { runs } from "../../support/sizes.ts";
import { draw, drawn, rowsOf, text, thinking, tool, user } from "./entries.ts";

const anyText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 120 }),
  fc.string({ unit: "grapheme", maxLength: 120 }),
  fc
    .array(
      fc.constantFrom(
        "日本",
        "e\u0301",
        "\u{1f44d}\u{1f3fd}",
        "\u1100\u1161",
        "ﾞ",
        "1\u20e3",
        "ก็",
        "क्षि",
        " ",
        "\t",
        "word",
        "\n",
      ),
    )
    .map((parts) => parts.join("")),
);
const markdown = fc
  .array(
    fc.oneof(
      anyText,
      fc.constantFrom(
        "\n\n",
        "\n- ",
        "\n  - [x] ",
        "\n1. ",
        "\n> ",
        "\n```ts\n",
        "\n```\n",
        "|a|b|c|\n|-|:-:|-:|\n|",
        "**",
        "# ",
        "](x)",
      ),
    ),
    { maxLength: 14 },
  )
  .map((parts) => parts.join(""));

const makers: readonly ((said: string) => Entry)[] = [
  text,
  user,
  thinking,
  (said) => text(said, { depth: 3 }),
  (said) => tool({ name: said, title: said, output: said, agent: said, exit_code: 1 }),
  (said) => tool({ changes: [{ path: said, kind: "update", diff: `@@ -9,9 +9,9 @@\n-${said}\n+${said}` }] }),
  (said) => ({ id: "n", seq: 1, depth: 1, kind: "notice", level: "error", category: "x", text: said }),
];

describe("any text on any width", () => {
  test("no row is wider than the screen", () => {
    fc.assert(
      fc.property(
        markdown,
        fc.nat(),
        fc.integer({ min: 8, max: 90 }),
        fc.boolean(),
        (said, at, width, isOpen) => {
          const make = makers[at % makers.length] ?? text;
          for (const row of rowsOf([make(said)], { width, isOpen })) {
            if (stringWidth(row.text) > width) expect.fail(`${width} < ${JSON.stringify(row.text)}`);
          }
        },
      ),
      runs(80),
    );
  });

  test("code keeps every character, prose every one that is no blank", () => {
    const line = anyText.map((said) => said.replace(/[\p{C}\p{M}]/gu, "x"));
    fc.assert(
      fc.property(line, fc.integer({ min: 2, max: 40 }), (said, width) => {
        const joined = (rows: readonly { text: string }[][]): string =>
          rows
            .flat()
            .map((one) => one.text)
            .join("");
        const letters = [...said];
        const parts = [
          createPiece(letters.slice(0, 7).join("")),
          createPiece(letters.slice(7).join(""), "1"),
        ];
        expect(joined(wrapHard(parts, width))).toBe(said);
        expect(joined(wrapWords(parts, width)).replaceAll(" ", "")).toBe(said.replaceAll(" ", ""));
        expect(measureLine(cutLine(parts, width))).toBeLessThanOrEqual(width);
      }),
      runs(100),
    );
  });

  test("in the feed too: text, code and output are complete", () => {
    const letters = fc.string({ unit: fc.constantFrom(..."abcdeß日本語é .,;:()\n"), maxLength: 300 });
    const solid = (said: string): string => said.replace(/\s/g, "");
    fc.assert(
      fc.property(letters, fc.integer({ min: 12, max: 60 }), (said, width) => {
        const shown = (entry: Entry, gutter: RegExp): string =>
          solid(
            rowsOf([entry], { width, isOpen: true })
              .map((row) => row.text.replace(gutter, ""))
              .join("\n"),
          );
        expect(shown(user(said), /^▌ /)).toBe(solid(said));
        expect(shown(text(`\`\`\`\n${said}\n\`\`\``), /^ +/)).toBe(solid(said));
        expect(shown(text(said.replaceAll("\n", "x")), /^ +/)).toBe(solid(said.replaceAll("\n", "x")));
        expect(shown(tool({ input: undefined, output: said }), /^ {2}[│┆] |^●.*|^├.*/)).toBe(solid(said));
      }),
      runs(60),
    );
  });
});

describe("a text that grows", () => {
  const grown = (
    said: string,
    steps: readonly number[],
    make: (said: string, isOpen: boolean) => Entry,
  ): string[] => {
    const feed = createFeedLayout();
    const how = { theme: { hasColor: true }, isOpen: true };
    let at = 0;
    for (const step of steps) {
      at += step;
      draw(feed, [make(said.slice(0, at), true)], how);
    }
    draw(feed, [make(said, true)], how);
    draw(feed, [make(said, false)], how);
    return feed.slice(0, feed.rowCount).map((row) => row.ansi);
  };
  const atOnce = (entry: Entry): string[] => {
    const feed = drawn([entry], { theme: { hasColor: true }, isOpen: true });
    return feed.slice(0, feed.rowCount).map((row) => row.ansi);
  };
  const steps = fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 30 });

  test("laid out in any steps, it looks as if it had come at once", () => {
    fc.assert(
      fc.property(markdown, steps, (said, sizes) => {
        expect(grown(said, sizes, (part, isOpen) => text(part, { isOpen }))).toEqual(atOnce(text(said)));
        expect(grown(said, sizes, (part, isOpen) => thinking(part, { isOpen }))).toEqual(
          atOnce(thinking(said)),
        );
      }),
      runs(30),
    );
  });

  test.each([
    ["colored code", "```ts\n", "/* a\n * b */ const a = `x\n`;\n", 300],
    ["long code", "```ts\n", "const a = 1;\n", 3_000],
    ["one endless line of code", "```\n", "日本語 x ", 3_000],
    ["one endless paragraph", "", "word **bold** ", 3_000],
    ["code in a list", "- a\n  ```ts\n", "  const a = 1;\n", 1_500],
  ])("%s as well", (_, head, part, count) => {
    const said = head + part.repeat(count);
    const sizes = Array.from({ length: 40 }, () => Math.ceil(said.length / 41));
    expect(grown(said, sizes, (piece_, isOpen) => text(piece_, { isOpen }))).toEqual(atOnce(text(said)));
  });
});
