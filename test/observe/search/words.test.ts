// The words that texts are found by, and what a query asks for.
import { describe, expect, test } from "vitest";
import { parseQuery, toPattern } from "../../../src/observe/search/query.ts";
import { toSnippet } from "../../../src/observe/search/snippet.ts";
import { foldText, foldWithPlaces, listWords } from "../../../src/observe/search/words.ts";

const words = (text: string) => [...listWords(text)];
const snippet = (text: string, query: string) => toSnippet(text, parseQuery(query).map(toPattern));
const marked = (text: string, query: string) => {
  const found = snippet(text, query);
  return found?.marks.map(([start, end]) => found.text.slice(start, end));
};

describe("words", () => {
  test("an identifier is found by its parts and as a whole", () => {
    expect(words("readPage read_page HTTPServer2 src/app.ts")).toEqual([
      ...["readpage", "read", "page", "httpserver2", "http", "server2", "src", "app", "ts"],
    ]);
  });

  test("case, accents and wide forms make no difference", () => {
    expect(words("Zürich ÉTÉ ＡＢＣ")).toEqual(["zurich", "ete", "abc"]);
    expect(foldText("Zu\u0308rich")).toBe("zurich");
  });

  test("text without spaces is found by pairs of characters", () => {
    expect(words("检索历史 x")).toEqual(["检索", "索历", "历史", "史", "x"]);
    expect(words("使用readPage函数")).toEqual(["使用", "用", "readpage", "read", "page", "函数", "数"]);
    expect(words("검색")).toEqual(["검색", "색"]);
  });

  test("a long hash is found by its start, and encoded data does not fill the index", () => {
    expect(words("a".repeat(40))).toEqual(["a".repeat(32)]);
    expect(words("Ab1".repeat(2_000)).length).toBe(1);
  });

  test("folded text keeps the places of its characters", () => {
    const { folded, places } = foldWithPlaces("ﬁn é😀x");
    expect(folded).toBe("fin e😀x");
    expect(places).toEqual([0, 0, 1, 2, 3, 4, 4, 6, 7]);
  });
});

describe("queries", () => {
  test("words are parts of words, and inside of a longer term they are whole", () => {
    expect(parseQuery("Page a.b.c")).toEqual([
      { needle: "page", words: [{ word: "page", fit: "part" }] },
      {
        needle: "a.b.c",
        words: [
          { word: "a", fit: "part" },
          { word: "b", fit: "exact" },
          { word: "c", fit: "start" },
        ],
      },
    ]);
  });

  test.each([
    '"',
    "AND OR NOT",
    "a* (b",
    "NEAR(a b)",
    'x"y',
    "col:word",
    "--",
    "^a",
    "{a}",
    "a'b; DROP TABLE words",
  ])("%s is plain text, or refused with a reason", (text) => {
    try {
      for (const term of parseQuery(text)) expect(toPattern(term).test("")).toBe(false);
    } catch (error) {
      expect(error).toMatchObject({
        code: "invalid_message",
        message: expect.stringContaining("no letters"),
      });
    }
  });

  test("too long a text, or too many words, is refused", () => {
    expect(() => parseQuery("x".repeat(1_001))).toThrow("1001 characters; the limit is 1000");
    expect(() => parseQuery("a ".repeat(21))).toThrow("21 words; the limit is 20");
    expect(() => parseQuery(" … ")).toThrow("no letters or digits");
  });
});

describe("snippets", () => {
  test("show the first match with its words, marked", () => {
    const text = `${"filler ".repeat(50)}we rotate the\n\tTokens of the shop ${"filler ".repeat(50)}`;
    const found = snippet(text, "tokens");
    expect(found?.text).toMatch(/^….*we rotate the Tokens of the shop .*…$/);
    expect(marked(text, "tokens rotate")).toEqual(["rotate", "Tokens"]);
  });

  test("a phrase must occur as it is, across any whitespace", () => {
    expect(marked("rotate\n  the token", '"rotate the"')).toEqual(["rotate the"]);
    expect(snippet("the rotate", '"rotate the"')).toBeUndefined();
    expect(snippet("read the page", "read_page")).toBeUndefined();
  });

  test("marks fit the text as it is shown, also if folding changes its length", () => {
    expect(marked("İİİ ﬁnd the Cafe\u0301 😀 now", "cafe")).toEqual(["Café"]);
    expect(marked("设置检索历史", "检索")).toEqual(["检索"]);
  });

  test("never cut a character in two", () => {
    const { text = "" } = snippet(`${"😀".repeat(200)} word ${"😀".repeat(200)}`, "word") ?? {};
    expect(text.isWellFormed()).toBe(true);
  });
});
