// Entries of a view as items of the feed.
import { describe, expect, test } from "vitest";
import type { Entry, TextEntry, ToolEntry } from "../../src/client/view/types.ts";
import { FeedItems } from "../../web/src/session/items.ts";
import { EntryFinder, stepHit } from "../../web/src/session/search.ts";

const tool = (id: string, more: Partial<ToolEntry> = {}): ToolEntry => ({
  kind: "tool",
  id,
  seq: 1,
  depth: 0,
  tool_use_id: `call-${id}`,
  name: "Bash",
  title: "",
  input: {},
  status: "done",
  ...more,
});
const text = (id: string, words: string, more: Partial<TextEntry> = {}): TextEntry => ({
  kind: "text",
  id,
  seq: 1,
  depth: 0,
  text: words,
  isOpen: false,
  ...more,
});
const keys = (entries: readonly Entry[], folds = new Map<string, boolean>()): string[] =>
  new FeedItems().of(entries, folds).map(({ key }) => key);

describe("items", () => {
  test("what a sub-agent does is below its call, also when another speaks between", () => {
    const one = tool("one", { agent: "a", status: "running" });
    const two = tool("two", { agent: "b", status: "running" });
    const entries = [
      one,
      two,
      text("t2", "x", { parent: "call-two" }),
      text("t1", "x", { parent: "call-one" }),
    ];
    expect(keys(entries)).toEqual(["one", "t1", "two", "t2"]);
  });

  test("a sub-agent that is done is folded, and opens when asked to", () => {
    const entries = [tool("one", { agent: "a" }), text("t1", "x", { parent: "call-one" })];
    expect(keys(entries)).toEqual(["one"]);
    expect(keys(entries, new Map([["one", true]]))).toEqual(["one", "t1"]);
  });

  test("entries of a call that no longer exists are still shown", () => {
    expect(keys([text("t1", "x", { parent: "call-gone" })])).toEqual(["t1"]);
  });

  test("two calls that name each other as parent do not cause a loop", () => {
    const entries = [
      tool("a", { parent: "call-b", agent: "x", status: "running" }),
      tool("b", { parent: "call-a", agent: "x", status: "running" }),
    ];
    expect(keys([...entries, text("t", "x")])).toContain("t");
  });

  test("a long text is cut into pieces, and the pieces are all of it", () => {
    const code = Array.from({ length: 1_000 }, (_, index) => `line ${index}`).join("\n");
    const items = new FeedItems().of([text("t", `before\n\n\`\`\`\n${code}\n\`\`\`\n\nafter`)], new Map());
    expect(items.length).toBeGreaterThan(5);
    const lines = items
      .flatMap(({ blocks = [] }) => blocks)
      .flatMap((block) => (block.kind === "code" ? block.text.split("\n") : []));
    expect(lines.join("\n")).toBe(code);
    expect(items.map(({ isFirst }) => isFirst).indexOf(true)).toBe(0);
    expect(new Set(items.map(({ key }) => key)).size).toBe(items.length);
  });

  test("an entry that did not change gives the same items, so that nothing is drawn again", () => {
    const feed = new FeedItems();
    const [first, second] = [text("a", "one"), text("b", "two")];
    const before = feed.of([first, second], new Map());
    const after = feed.of([first, text("b", "two three")], new Map());
    expect(after[0]).toBe(before[0]);
    expect(after[1]).not.toBe(before[1]);
  });

  test("of a text that grows, the blocks before its end stay the same objects", () => {
    const feed = new FeedItems();
    const grown = (words: string): readonly unknown[] =>
      feed.of([text("a", words, { isOpen: true })], new Map()).flatMap(({ blocks = [] }) => blocks);
    const before = grown("first\n\nsecond\n\nthi");
    const after = grown("first\n\nsecond\n\nthird");
    expect(after[0]).toBe(before[0]);
    expect(after.at(-1)).not.toBe(before.at(-1));
  });
});

describe("search", () => {
  const entries = [text("a", "The Word"), tool("b", { output: "a word too" }), text("c", "nothing")];

  test("finds in what was said and what came out of tools, whatever the case", () => {
    expect(new EntryFinder().find(entries, " WORD ")).toEqual(["a", "b"]);
    expect(new EntryFinder().find(entries, "  ")).toEqual([]);
  });

  test("begins at the newest hit and goes around", () => {
    expect(stepHit(["a", "b"], undefined, -1)).toBe("b");
    expect(stepHit(["a", "b"], "a", -1)).toBe("b");
    expect(stepHit(["a", "b"], "b", 1)).toBe("a");
    expect(stepHit([], "a", 1)).toBeUndefined();
  });
});
