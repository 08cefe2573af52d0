// How entries look in the feed, and how the feed is walked: rows, entries, search.
import { describe, expect, test } from "vitest";
import type { Entry } from "../../../src/client/view/types.ts";
import type { AnsweredBy } from "../../../src/protocol/requests.ts";
import { createFeedLayout } from "../../../src/tui/rows/index.ts";
import { pending } from "../../client/request-rows.ts";
import { draw, drawn, rowsOf, text, textOf, thinking, tool, user } from "./entries.ts";

const base = { id: "e1", seq: 1, depth: 0 } as const;

describe("entries", () => {
  test("a tool call is one row with its status and time", () => {
    expect(textOf([tool({ at_ms: 1_000, ended_at_ms: 2_200 })])).toBe("● Bash npm test  ✓ 1.2s");
    expect(textOf([tool({ status: "failed", exit_code: 2 })])).toBe("✗ Bash npm test  ✗ exit 2");
    expect(textOf([tool({ status: "running" })])).toBe("◌ Bash npm test  …");
    expect(textOf([tool({ status: "waiting" })])).toBe("? Bash npm test  waiting for you");
    expect(textOf([tool({ status: "unknown", title: "" })])).toBe("○ Bash  no result");
  });

  test("the time of a turn, and of a call, excludes the time spent waiting for the user", () => {
    const done = { ...base, kind: "result", subtype: "success", duration_ms: 61_500 } as const;
    expect(textOf([{ ...done, waited_ms: 60_000 }])).toBe("✓ done · 1.5s");
    expect(textOf([tool({ at_ms: 1_000, ended_at_ms: 62_200, waited_ms: 60_000 })])).toMatch(/✓ 1\.2s$/);
  });

  test("unfolded it shows input and output after bars", () => {
    const shown = textOf([tool({ input: { command: "ls", a: [1] }, output: `x\n${"y".repeat(20)}\n` })], {
      isOpen: true,
      width: 20,
    });
    expect(shown).toBe(`● Bash npm test  ✓
├ input (2 lines)
  │ command: ls
  │ a: [1]
├ output (2 lines)
  │ x
  │ yyyyyyyyyyyyyyyy
  ┆ yyyy`);
  });

  test("a long output shows both ends and how many lines are between", () => {
    const output = Array.from({ length: 512 }, (_, at) => `l${at + 1}`).join("\n");
    const rows = textOf([tool({ output })], { isOpen: true }).split("\n");
    expect(rows).toContain("├ … 312 more lines");
    expect(rows.at(-1)).toBe("  │ l512");
    expect(rows).toContain("  │ l100");
    expect(rows).not.toContain("  │ l101");
  });

  test("a line that is too long is cut, and says so", () => {
    const rows = textOf([tool({ output: "x".repeat(2_345) })], { isOpen: true }).split("\n");
    expect(rows.at(-1)).toBe("├ … 345 more characters");
  });

  test("colors of a tool are left out, and what a return would cover is shown", () => {
    const output = "\u001b[1;31mred\u001b[0m\n10%\r100%";
    expect(textOf([tool({ input: undefined, output })], { isOpen: true })).toBe(
      "● Bash npm test  ✓\n├ output (3 lines)\n  │ red\n  │ 10%\n  │ 100%",
    );
  });

  test("a change shows how much, and unfolded its lines with numbers in colors", () => {
    const entry = tool({
      ...{ name: "Edit", title: "a.ts" },
      changes: [{ path: "a.ts", kind: "update", diff: "@@ -9,2 +9,2 @@\n a\n-b\n+\tc" }],
    });
    expect(textOf([entry])).toBe("● Edit +1 -1 a.ts  ✓");
    expect(textOf([entry], { isOpen: true })).toContain(
      "├ edit a.ts\n  @@ -9,2 +9,2 @@\n   9   a\n  10 - b\n  10 +     c",
    );
    const rows = rowsOf([entry], { isOpen: true, theme: { hasColor: true } });
    expect(rows.map(({ ansi }) => ansi)).toContain("  \u001b[2m10 \u001b[0m\u001b[31m- b\u001b[0m");
  });

  test("thoughts are folded to their first line", () => {
    const entry = thinking("I look first.\n\nThen I act.", { at_ms: 0, ended_at_ms: 4_000 });
    expect(textOf([entry])).toBe("∴ thought for 4.0s  I look first.");
    expect(textOf([entry], { isOpen: true })).toBe("∴ thought for 4.0s\n  I look first.\n\n  Then I act.");
    expect(textOf([thinking("Hm", { isOpen: true })])).toBe("∴ thinking…  Hm");
  });

  test("Markdown is drawn: lists, code, tables, links with where they lead", () => {
    const said =
      "## T\n\nSee [x](https://a.example).\n\n1. a\n   - b\n\n```ts\n\tf()\n```\n\n|a|b|\n|-|-:|\n|日本|1|";
    expect(textOf([text(said)])).toBe(`  ## T

  See x (https://a.example).

  1. a
     • b

        f()

  a    │ b
  ─────┼──
  日本 │ 1`);
  });

  test("a table that does not fit wraps its cells, or becomes a list", () => {
    const said = `|name|what it is|\n|-|-|\n|abc|${"word ".repeat(8)}|`;
    expect(textOf([text(said)], { width: 30 })).toBe(`  name │ what it is
  ─────┼──────────────────────
  abc  │ word word word word
       │ word word word word`);
    expect(textOf([text("|aaaaaa|bbbbbb|cccccc|\n|-|-|-|\n|1|2|3|")], { width: 20 })).toBe(
      "  aaaaaa: 1\n  bbbbbb: 2\n  cccccc: 3",
    );
  });

  test("sub-agents have a bar for each level, below the call with their name", () => {
    const entries = [
      tool({ name: "Task", title: "look", agent: "explorer", status: "running" }),
      text("I look.", { id: "e2", depth: 1 }),
      tool({ id: "e3", depth: 2 }),
    ];
    expect(textOf(entries)).toBe("◌ Task explorer look  …\n\n│   I look.\n│\n│ │ ● Bash npm test  ✓");
  });

  test("requests say what became of them", () => {
    const entry = (fields: object): Entry => ({
      ...base,
      kind: "request",
      request: { ...pending(), ...fields },
    });
    expect(textOf([entry({})])).toBe("? asks (command) Bash: mkdir -p build  waiting for you");
    const resolved = { status: "resolved", resolution_source: "tui" };
    const said = { ...resolved, answer: { decision: "decline", message: "not here" } };
    expect(textOf([entry(said)])).toBe("✗ asks (command) Bash: mkdir -p build  declined\n  │ not here");
    const policy = { status: "resolved", resolution_source: "policy", answer: { decision: "acceptAlways" } };
    expect(textOf([entry(policy)], { width: 80 })).toBe(
      "✓ asks (command) Bash: mkdir -p build  accepted always by a rule",
    );
    // As the daemon determined it: an agent that says it is a screen is named, and so is what cannot be examined.
    const accepted = { status: "resolved", resolution_source: "tui", answer: { decision: "accept" } };
    const by = (answered_by: AnsweredBy) =>
      textOf([entry({ ...accepted, answered_by })], { width: 90 })
        .split("  ")
        .at(-1);
    expect(by({ actor: "agent:5a01f0d8-0760", via: "http" })).toBe("accepted by agent 5a01f0d8");
    expect(by({ actor: "unknown", via: "tui" })).toBe("accepted by an unknown program in the terminal UI");
    expect(by({ actor: "person", via: "tui" })).toBe("accepted");
    expect(by({ actor: "person", via: "web" })).toBe("accepted in the dashboard");
    expect(textOf([entry({ status: "withdrawn" })])).toBe("○ asks (command) Bash: mkdir -p build  withdrawn");
  });

  test("ends, notices, gaps and messages of other sessions", () => {
    const entries: Entry[] = [
      user("hi", { from: "s9", attachments: 1 }),
      { ...base, id: "n", kind: "notice", level: "warn", category: "local", text: "careful" },
      { ...base, id: "g", kind: "gap", text: "3 events are missing" },
      {
        ...base,
        id: "r",
        kind: "result",
        subtype: "success",
        duration_ms: 2_000,
        usage: { output_tokens: 1_200 },
        cost_usd: 0.25,
      },
      { ...base, id: "f", kind: "result", subtype: "error_max_turns", error: "too many" },
    ];
    expect(textOf(entries)).toBe(`» from the session s9
▌ hi
» 1 attachment

! careful
⋮ 3 events are missing
✓ done · 2.0s · 1.2k tokens · $0.25
✗ error max turns
  too many`);
  });

  test("without UTF-8 there is only ASCII", () => {
    const rows = rowsOf([user("日本"), tool(), text("- é", { id: "e2" })], {
      theme: { hasColor: false, isAscii: true },
    });
    expect(rows.map((row) => row.text)).toEqual(["> ??", "", "* Bash npm test  +", "", "  - ?"]);
  });
});

describe("the feed", () => {
  const entries = [
    user("One two", { id: "a" }),
    tool({ id: "b" }),
    tool({ id: "c" }),
    text("Three\n\nfour", { id: "d" }),
  ];

  test("rows are found by entry, entries by row", () => {
    const feed = drawn(entries);
    expect(feed.rowCount).toBe(8);
    expect(["a", "b", "c", "d", "x"].map((id) => feed.findRow(id))).toEqual([0, 2, 3, 5, undefined]);
    expect([-1, 0, 1, 2, 3, 5, 7, 8].map((row) => feed.findEntry(row)?.id)).toEqual([
      ...[undefined, "a", "b", "b", "c", "d", "d", undefined],
    ]);
  });

  test("any slice equals that part of the whole", () => {
    const feed = drawn(entries);
    const all = feed.slice(0, 99);
    for (let from = -1; from <= 9; from++) {
      for (let to = from; to <= 10; to++) {
        expect(feed.slice(from, to), `${from}-${to}`).toEqual(all.slice(Math.max(0, from), Math.max(0, to)));
      }
    }
    expect(drawn([]).slice(0, 5)).toEqual([]);
  });

  test("a search continues from the current match, both ways, and wraps around", () => {
    const feed = drawn(entries);
    expect(feed.find("t", 0, 1)).toBe(2);
    expect(feed.find("npm", 2, 1)).toBe(3);
    expect(feed.find("npm", 3, 1)).toBe(2);
    expect(feed.find("npm", 3, -1)).toBe(2);
    expect(feed.find("one", 5, -1)).toBe(0);
    expect(feed.find("ONE", 5, -1)).toBeUndefined();
    expect(feed.find("", 0, 1)).toBeUndefined();
  });

  test("an entry that did not change keeps its rows; width, colors and folds make new ones", () => {
    const feed = createFeedLayout();
    draw(feed, entries);
    const [before] = feed.slice(2, 3);
    draw(feed, [...entries, tool({ id: "e" })]);
    expect(feed.slice(2, 3)[0]).toBe(before);
    draw(feed, entries, { isOpen: true });
    expect(feed.findRow("c")).toBe(5);
    draw(feed, entries, { width: 10 });
    expect(feed.slice(2, 3)[0]?.text).toBe("● Bash…  ✓");
    draw(feed, entries, { theme: { hasColor: true } });
    expect(feed.slice(2, 3)[0]?.ansi).toContain("\u001b[32m●");
  });

  test("a text that grows keeps the rows of what is settled", () => {
    const feed = createFeedLayout();
    draw(feed, [text("one\n\ntwo\n\nthr", { isOpen: true })]);
    const [before] = feed.slice(0, 1);
    draw(feed, [text("one\n\ntwo\n\nthree", { isOpen: true })]);
    expect(feed.slice(0, 1)[0]).toBe(before);
    expect(feed.slice(4, 5)[0]?.text).toBe("  three");
  });
});
