// Markdown as data; reading a growing text piece by piece gives the same result as reading it at once.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Block, MarkdownReader, parseMarkdownBlocks } from "../../../src/client/view/markdown.ts";
import { runs } from "../../support/sizes.ts";

const words = (text: string): { kind: "text"; text: string } => ({ kind: "text", text });

describe("blocks", () => {
  test("headings, paragraphs and their content", () => {
    expect(parseMarkdownBlocks("## A *b*\n\nSee `x` and **y** ~~z~~.")).toEqual([
      { kind: "heading", level: 2, content: [words("A "), { kind: "em", content: [words("b")] }] },
      {
        kind: "paragraph",
        content: [
          words("See "),
          { kind: "code", text: "x" },
          words(" and "),
          { kind: "strong", content: [words("y")] },
          words(" "),
          { kind: "strike", content: [words("z")] },
          words("."),
        ],
      },
    ]);
  });

  test("a link keeps its text and its target apart", () => {
    expect(parseMarkdownBlocks("[here](https://a.example/x)")).toEqual([
      {
        kind: "paragraph",
        content: [{ kind: "link", content: [words("here")], href: "https://a.example/x" }],
      },
    ]);
  });

  test("lists are nested, numbered from their start, and mark finished tasks", () => {
    const [list] = parseMarkdownBlocks("3. a\n4. b\n   - [x] c\n   - [ ] d");
    const item = (text: string): Block => ({ kind: "paragraph", content: [words(text)] });
    expect(list).toEqual({
      kind: "list",
      start: 3,
      items: [
        { blocks: [item("a")] },
        {
          blocks: [
            item("b"),
            {
              kind: "list",
              items: [
                { task: true, blocks: [item("c")] },
                { task: false, blocks: [item("d")] },
              ],
            },
          ],
        },
      ],
    });
  });

  test("fenced code has its language and its text, blank lines and marks in it included", () => {
    expect(parseMarkdownBlocks("a\n```ts x=1\nconst a = `1`;\n\n# no\n```\nb")).toMatchObject([
      { kind: "paragraph" },
      { kind: "code", lang: "ts", text: "const a = `1`;\n\n# no" },
      { kind: "paragraph" },
    ]);
  });

  test("a fence that is not closed yet is code to the end; a shorter fence does not close it", () => {
    expect(parseMarkdownBlocks("````\na\n```\nb")).toEqual([{ kind: "code", lang: "", text: "a\n```\nb" }]);
  });

  test("a fence that closes at the very end is closed", () => {
    expect(parseMarkdownBlocks("```\na\n```")).toEqual([{ kind: "code", lang: "", text: "a" }]);
  });

  test("code in a list stays in it", () => {
    const [list, ...rest] = parseMarkdownBlocks("- a\n\n  ```sh\n  ls\n\n  pwd\n  ```\n\n  b");
    expect(rest).toEqual([]);
    expect(list).toMatchObject({
      items: [
        {
          blocks: [
            { kind: "paragraph" },
            { kind: "code", lang: "sh", text: "ls\n\npwd" },
            { kind: "paragraph" },
          ],
        },
      ],
    });
  });

  test("tables have a header, alignment and rows; quotes and rules are recognized", () => {
    expect(parseMarkdownBlocks("|a|b|\n|:-|-:|\n|1|`2`|\n\n> q\n\n---")).toMatchObject([
      {
        kind: "table",
        align: ["left", "right"],
        header: [[words("a")], [words("b")]],
        rows: [[[words("1")], [{ kind: "code", text: "2" }]]],
      },
      { kind: "quote", blocks: [{ kind: "paragraph" }] },
      { kind: "rule" },
    ]);
  });

  test("HTML is text, and no text is left out", () => {
    const said = JSON.stringify(
      parseMarkdownBlocks("a <b onclick=x>b</b>\n\n<script>alert(1)</script>\n\n[r]: http://x.example"),
    );
    expect(said).toContain("<b onclick=x>");
    expect(said).toContain("<script>alert(1)</script>");
    expect(said).toContain("[r]: http://x.example");
    expect(said).not.toContain('"html"');
  });

  test.each([
    ["quotes", ">".repeat(9_000)],
    ["lists", "- ".repeat(9_000)],
    ["brackets", "[".repeat(9_000)],
  ])("%s nested thousands deep are shown as text", (_, text) => {
    const shown = JSON.stringify(parseMarkdownBlocks(text)).split(text.charAt(0)).length - 1;
    expect(shown).toBeGreaterThanOrEqual(text.split(text.charAt(0)).length - 1);
  });
});

/** The elements of Markdown, so that arbitrary texts of it have fences, lists, tables and long lines. */
const pieces = fc.oneof(
  fc.constantFrom(
    "\n",
    "\n\n",
    "```",
    "```ts\n",
    "~~~\n",
    "- ",
    "  ",
    "1. ",
    "> ",
    "# ",
    "|a|b|\n|-|-|\n",
    "**",
    "`",
    " ",
  ),
  fc.constantFrom(
    "\t",
    "\r\n",
    "---\n",
    "[x](y)",
    "<b>",
    "x".repeat(2_500),
    "word ".repeat(900),
    "日本",
    "\u{1f600}",
  ),
  fc.string({ maxLength: 8 }),
);

describe("a text that grows", () => {
  test("read in any pieces, it gives the blocks of the whole text", () => {
    fc.assert(
      fc.property(
        fc.array(pieces, { maxLength: 24 }),
        fc.infiniteStream(fc.integer({ min: 1, max: 300 })),
        (parts, steps) => {
          const text = parts.join("");
          const reader = new MarkdownReader();
          for (let at = 0; at < text.length; at += steps.next().value ?? 1) reader.read(text.slice(0, at));
          expect(reader.read(text).blocks).toEqual(parseMarkdownBlocks(text));
        },
      ),
      runs(60),
    );
  });

  test("blocks that can no longer change keep their identity", () => {
    const reader = new MarkdownReader();
    const before = reader.read("# a\n\nb\n\nc");
    const after = reader.read("# a\n\nb\n\nc and d");
    expect(before.settled).toBe(2);
    expect(after.blocks[0]).toBe(before.blocks[0]);
    expect(after.blocks[1]).toBe(before.blocks[1]);
    expect(after.blocks[2]).not.toEqual(before.blocks[2]);
  });

  test.each([
    ["a long line after the marks of a fence", `\`\`\`${"word ".repeat(900)}\nx\n`],
    ["a fence where a part gets too long", `${"word ".repeat(799)}\n\`\`\`ts x y z\ncode\n\`\`\`\nend`],
    ["an indented fence there", `- ${"word ".repeat(798)}\n  \`\`\`ts x y z\n  code\n  \`\`\`\nend`],
  ])("%s is cut the same way, whole or letter by letter", (_, text) => {
    const reader = new MarkdownReader();
    for (let at = 3_900; at < text.length; at += 3) reader.read(text.slice(0, at));
    expect(reader.read(text).blocks).toEqual(parseMarkdownBlocks(text));
  });

  test("even one endless line settles as it grows", () => {
    const reader = new MarkdownReader();
    expect(reader.read("x".repeat(100_000)).settled).toBeGreaterThan(10);
    expect(reader.read("word ".repeat(20_000)).settled).toBeGreaterThan(10);
  });

  test("another text starts over", () => {
    const reader = new MarkdownReader();
    reader.read("a\n\nb\n\nc");
    expect(reader.read("x\n\ny").blocks).toEqual(parseMarkdownBlocks("x\n\ny"));
  });
});
