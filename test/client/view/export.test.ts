// Exports: what was said and done, as Markdown and as a page, and nothing in them that runs or loads.
import { describe, expect, test } from "vitest";
import { EntryReader, mapTexts } from "../../../src/client/view/export-entries.ts";
import { HTML_END, toHtml, toHtmlHead } from "../../../src/client/view/export-html.ts";
import { toMarkdown, toMarkdownHead, toProse } from "../../../src/client/view/export-markdown.ts";
import type { Entry, SessionView } from "../../../src/client/view/types.ts";

const SESSION = {
  session_id: "s-1",
  provider: "claude",
  name: "fix <b>it</b>",
  project: "/srv/app",
  started_at_ms: 0,
  turns: 2,
} as SessionView;

interface Frame {
  type: string;
  [key: string]: unknown;
}
const said = (content: string): Frame => ({ type: "agent.user_echo", message: { role: "user", content } });
const answered = (text: string): Frame => ({
  type: "agent.message",
  role: "assistant",
  content: [{ type: "text", text }],
});
const used = (id: string, input: object): Frame => ({
  type: "agent.tool_use",
  tool_use_id: id,
  name: "Bash",
  input,
});
const got = (id: string, output: string): Frame => ({ type: "agent.tool_result", tool_use_id: id, output });
const DONE: Frame = { type: "agent.result", subtype: "success" };

function read(frames: readonly Frame[], change = <T>(value: T): T => value): Entry[] {
  const reader = new EntryReader();
  const entries = frames.flatMap((frame, at) =>
    reader.read(
      {
        events: [
          {
            ...{ session_id: "s", seq: at + 1, persisted: true, timestamp_ms: 0, turn_id: null, preview: "" },
            ...{ type: frame.type, frame },
          },
        ],
      },
      change,
    ),
  );
  return [...entries, ...reader.end()];
}

describe("entries", () => {
  test("each comes once, complete, also of turns that are longer than what is kept", () => {
    const calls = Array.from({ length: 5_000 }, (_, n) => [
      used(`t${n}`, { command: `c${n}` }),
      got(`t${n}`, `o${n}`),
    ]);
    const entries = read([said("go"), ...calls.flat(), answered("done"), DONE, said("open")]);
    const tools = entries.filter((entry) => entry.kind === "tool");
    expect(tools.map(({ output }) => output)).toEqual(calls.map((_, n) => `o${n}`));
    expect(entries.map(({ kind }) => kind).filter((kind) => kind !== "tool")).toEqual([
      ...["user", "text", "result", "user"],
    ]);
  });

  test("texts are changed wherever they are, also in keys, and pieces of texts are left out", () => {
    const change = <T>(value: T): T => mapTexts(value, (text) => text.replaceAll("secret", "***"));
    const entries = read(
      [
        { type: "agent.delta", kind: "text", text: "sec" },
        used("t", { secret: ["a secret"], command: "echo secret" }),
        got("t", "the secret"),
      ],
      change,
    );
    expect(JSON.stringify(entries)).not.toContain("sec");
    expect(entries).toMatchObject([{ kind: "tool", output: "the ***" }]);
  });
});

const HOSTILE = [
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  "[x](javascript:alert(1))",
  "![x](http://evil.example/pixel.png)",
  "</section></body><iframe src='//evil.example'>",
  '" onmouseover="alert(1)',
  "\u001b]0;title\u0007\u202eabc",
  "[r]: data:text/html,x",
];

describe("a page", () => {
  const page = (entries: readonly Entry[]) =>
    [toHtmlHead(SESSION), ...entries.map(toHtml), HTML_END].join("");

  test("has what was said and done, with code and lists", () => {
    const html = page(read([said("fix it"), answered("**Yes**:\n\n- one\n\n```js\na < b\n```"), DONE]));
    expect(html).toContain("<strong>Yes</strong>");
    expect(html).toContain("<pre><code>a &lt; b</code></pre>");
    expect(html).toContain("<li><p>one</p></li>");
    expect(html).toContain("fix &lt;b&gt;it&lt;/b&gt;");
  });

  test("contains no element, attribute or address that an agent wrote", () => {
    const html = page(
      read(
        HOSTILE.flatMap((text, n) => [
          said(text),
          answered(text),
          used(`t${n}`, { command: text }),
          got(`t${n}`, text),
        ]),
      ),
    );
    const body = html.slice(html.indexOf("<body>"));
    const tags = new Set(
      [...body.matchAll(/<\/?([a-z0-9]+)([^>]*)>/gi)].map(([, tag, rest]) => `${tag}${rest}`),
    );
    for (const tag of tags)
      expect(tag).toMatch(
        /^(?:body|html|h[1-6]|dl|dt|dd|section(?: class="user")?|p(?: class="note")?|details|summary|pre|code|br|em|strong|ul|li)$/,
      );
    for (const hidden of ["\u001b", "\u202e"]) expect(html).not.toContain(hidden);
    expect(
      html.match(/<meta http-equiv="Content-Security-Policy" content="default-src 'none'/g),
    ).toHaveLength(1);
  });

  test("links only to the web", () => {
    const html = page(read([answered('[a](https://a.example/?q="x) [b](javascript:x) [c](file:///etc)')]));
    expect([...html.matchAll(/href="([^"]*)"/g)].map(([, href]) => href)).toEqual([
      "https://a.example/?q=&quot;x",
    ]);
  });
});

describe("Markdown", () => {
  const text = (entries: readonly Entry[]) => [toMarkdownHead(SESSION), ...entries.map(toMarkdown)].join("");

  test("has what was said and done; output is fenced longer than any fence in it", () => {
    const out = text(
      read([said("go"), used("t", { command: "cat x" }), got("t", "```\nx\n````"), answered("`a<b`"), DONE]),
    );
    expect(out).toContain("# fix \\<b>it\\</b>");
    expect(out).toContain("## User (1970-01-01 00:00:00 UTC)\n\ngo");
    expect(out).toContain("`````\n```\nx\n````\n`````");
    expect(out).toContain("`a<b`");
  });

  test("nothing that an agent wrote becomes HTML or a link that runs", () => {
    for (const hostile of HOSTILE) {
      const prose = toProse(hostile);
      expect(prose).not.toMatch(/<[A-Za-z/!?]/);
      expect(prose).not.toMatch(/\]\(\s*javascript:|\]:\s*data:/);
      expect(prose).not.toContain("\u001b");
    }
    expect(toProse("a\n\n```html\n<b>x</b>\n```\n\n<i>y</i>")).toBe(
      "a\n\n```html\n<b>x</b>\n```\n\n&lt;i>y&lt;/i>",
    );
    expect(toProse("```\n<open>")).toBe("```\n<open>");
  });
});
