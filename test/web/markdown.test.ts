// Markdown as the page shows it, and which addresses become links.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseMarkdownBlocks } from "../../src/client/view/markdown.ts";
import { safeLink, saysAddress } from "../../web/src/session/links.ts";
import { markdown } from "../../web/src/session/markdown-view.ts";
import { markupOf } from "./markup.ts";

const shown = (text: string): string => markupOf(markdown(parseMarkdownBlocks(text))).replace(/\s+/g, " ");

describe("markdown", () => {
  test("headings are below those of the page", () => {
    expect(shown("# One\n\n## Two")).toContain("<h3>One</h3><h4>Two</h4>");
  });

  test("lists, tasks, quotes, tables and code become elements", () => {
    expect(shown("- a\n- b")).toContain("<ul><li>a</li><li>b</li></ul>");
    expect(shown("3. a")).toContain("<ol start=3><li>a</li></ol>");
    expect(shown("- [x] done")).toContain('class="task"');
    expect(shown("> said")).toContain("<blockquote><p>said</p></blockquote>");
    expect(shown("| a |\n|---|\n| b |")).toMatch(/<th data-align=left>a<\/th>.*<td data-align=left>b<\/td>/);
    expect(shown("```js\nconst a = 1;\n```")).toContain("<span class=hl-keyword>const</span>");
  });

  test("raw HTML is text", () => {
    const text = shown(
      '<img src=x onerror=alert(1)> <script>alert(1)</script>\n\n<div onclick="a()">b</div>',
    );
    expect(text).not.toMatch(/<(img|script|div o)/);
    expect(text).toContain("&#60;script&#62;");
  });

  test("a picture is never fetched: its address is shown", () => {
    const text = shown("![alt](https://example.com/p.png)");
    expect(text).not.toContain("<img");
    expect(text).toContain("https://example.com/p.png");
  });

  test("a link opens in a new tab, with its target beside it", () => {
    const text = shown("[click](https://example.com/a)");
    expect(text).toContain('rel="noopener noreferrer"');
    expect(text).toContain('<span class="link-address">(https://example.com/a)</span>');
    expect(shown("<https://example.com/a>")).not.toContain("link-address");
  });

  test("bidi controls are shown", () => {
    expect(shown("a\u202eb")).toContain("a&#60;U+202E&#62;b");
  });

  test("for any input only our own tags are produced", () => {
    const allowed =
      /^<\/?(div|p|h[3-6]|ul|ol|li|input|blockquote|table|thead|tbody|tr|th|td|strong|em|s|br|hr|a|span|code|pre|figure|figcaption|button)[\s>]/;
    fc.assert(
      fc.property(
        fc.array(
          fc.constantFrom(
            "<",
            ">",
            '"',
            "'",
            "`",
            "[",
            "](",
            ")",
            "javascript:",
            "!",
            "*",
            "_",
            "\n",
            "- ",
            "> ",
            "|",
            "a",
            "<svg/onload=x>",
            "&lt;",
            "```",
          ),
          { maxLength: 40 },
        ),
        (parts) => {
          for (const tag of shown(parts.join("")).match(/<[^>]*>?/g) ?? []) expect(tag).toMatch(allowed);
        },
      ),
    );
  });
});

describe("links", () => {
  test("only the web and mail are addresses", () => {
    for (const href of ["https://a.example/x", "http://a.example", "mailto:a@example.com"])
      expect(safeLink(href)).toBeDefined();
    for (const href of [
      "javascript:alert(1)",
      "JaVaScRiPt:alert(1)",
      "java\nscript:alert(1)",
      "\u0001javascript:alert(1)",
      " javascript:x",
      "data:text/html,x",
      "vbscript:x",
      "file:///etc/passwd",
      "blob:https://a/b",
      "//evil.example",
      "/sessions",
      "#/s/1",
      "",
      "a b",
      "https://",
    ])
      expect(safeLink(href)).toBeUndefined();
  });

  test("a host cannot hide behind a user name or letters that look alike", () => {
    expect(safeLink("https://bank.example@evil.example/")).toBeUndefined();
    expect(safeLink("https://аpple.example/")).toBe("https://xn--pple-43d.example/");
  });

  test("an address is not repeated", () => {
    expect(saysAddress("https://a.example", "https://a.example/")).toBe(true);
    expect(saysAddress("a@example.com", "mailto:a@example.com")).toBe(true);
    expect(saysAddress("https://a.example", "https://b.example/")).toBe(false);
  });
});
