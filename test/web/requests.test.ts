// What the user sees and answers when an agent asks: the exact text, the answers of a form, and what became of it.
import { describe, expect, test } from "vitest";
import { toRequestCard } from "../../src/client/view/request-card.ts";
import type {
  AnsweredBy,
  Choice,
  Question,
  RequestPayload,
  RequestRow,
} from "../../src/protocol/requests.ts";
import { choose, EMPTY, type Filled, readAnswers, write } from "../../web/src/session/answers.ts";
import { detailsView, partView } from "../../web/src/session/exact.ts";
import { describeOutcome } from "../../web/src/session/outcome.ts";
import { markupOf } from "./markup.ts";

const row = (payload: Partial<RequestPayload>, more: Partial<RequestRow> = {}): RequestRow => ({
  request_id: "r1",
  session_id: "s1",
  backend: "demo",
  request_type: "command",
  status: "pending",
  shown_hash: "h",
  requested_at_ms: 1,
  generation: "g",
  payload: { title: "Bash: x", choices: [{ decision: "accept" }, { decision: "decline" }], ...payload },
  ...more,
});
const exact = (payload: Partial<RequestPayload>): string =>
  markupOf(toRequestCard(row(payload)).parts.map(partView));
const notes = (choices: Choice[]): string[] =>
  toRequestCard(row({ choices })).choices.map((choice) => markupOf(choice.notes.map(partView)));

describe("what is decided upon", () => {
  test("a command is whole, and its tricks are visible", () => {
    const command = `echo ok\u202e\u200b \u00a0&& rm -rf ~\r#${"x".repeat(20_000)}<END>`;
    const text = exact({ command });
    expect(text).toContain(
      "echo ok&#60;U+202E&#62;&#60;U+200B&#62; &#60;U+00A0&#62;&#38;&#38; rm -rf ~\\x0d#",
    );
    expect(text).toContain(`${"x".repeat(20_000)}&#60;END&#62;`);
  });

  test("all of it is there: directory, changes, plan and input", () => {
    const text = exact({
      cwd: "/tmp/<b>",
      plan: "first this",
      input: { path: "p<q" },
      changes: [{ path: "a.ts", kind: "update", diff: "@@ -1 +1 @@\n-old\u200b\n+new" }],
    });
    for (const part of ["/tmp/&#60;b&#62;", "first this", "p&#60;q", "a.ts", "-old&#60;U+200B&#62;", "+new"])
      expect(text).toContain(part);
  });

  test("every line of a diff is shown exactly, even if it is not valid", () => {
    const diff = "@@ -1,3 +1,3 @@\n same\n\n-old\n+new\r\n+++ more\nbare\n\\ No newline";
    const text = exact({ changes: [{ path: "a.ts", kind: "update", diff }] });
    const shown = text.replace(/^.*<pre class="diff-lines exact" tabindex="0">|<\/pre>.*$/gs, "");
    expect(shown.replace(/<[^>]*>/g, "")).toBe(`${diff.replace("\r", "\\x0d")}\n`);
  });

  test("what a choice writes is shown beside it", () => {
    const always: Choice = {
      decision: "acceptAlways",
      remembers: ["Bash(npm *)"],
      writes: [{ path: "~/s.json", content: '{"allow":1}' }],
    };
    const [text] = notes([always]);
    for (const part of ["Bash(npm *)", "~/s.json", "{&#34;allow&#34;:1}"]) expect(text).toContain(part);
  });

  test("choices with the same decision and other options each have their own notes", () => {
    const exact: Choice = { decision: "acceptForSession", remembers: ["allow Bash(touch x)"] };
    const mode: Choice = { decision: "acceptForSession", option: "mode", remembers: ["switch the mode"] };
    const [first, second] = notes([exact, mode]);
    expect(first).toContain("allow Bash(touch x)");
    expect(first).not.toContain("switch the mode");
    expect(second).toContain("switch the mode");
  });

  test("ids, hash and what else the agent sent are folded, and harmless", () => {
    const payload = { tool_name: "<i>tool</i>", details: { why: "\u202e<b>" } };
    const text = markupOf(detailsView(row(payload, { item_id: "<u>" })));
    expect(text).toMatch(/^<details class="card-details">\s*<summary>Details<\/summary>/);
    for (const part of [
      "r1",
      "s1",
      "&#60;u&#62;",
      "&#60;i&#62;tool&#60;/i&#62;",
      "&#60;U+202E&#62;&#60;b&#62;",
    ])
      expect(text).toContain(part);
    expect(exact(payload)).not.toMatch(/why|tool|r1/);
  });
});

describe("answers", () => {
  const color: Question = {
    id: "color",
    question: "?",
    options: [{ label: "Red" }, { label: "Blue" }],
    allows_other: true,
  };
  const many: Question = { ...color, id: "many", multi_select: true };
  const free: Question = { id: "free", question: "?", is_secret: true };
  const one = (question: Question, filled: Filled): unknown =>
    readAnswers([question], new Map([[question.id, filled]]))?.[question.id];

  test("one of several is a text, several are a list in the order they are offered", () => {
    expect(one(color, choose(color, EMPTY, "Blue", true))).toBe("Blue");
    expect(one(many, choose(many, choose(many, EMPTY, "Blue", true), "Red", true))).toEqual(["Red", "Blue"]);
    expect(one(many, choose(many, choose(many, EMPTY, "Blue", true), "Blue", false))).toBeUndefined();
  });

  test("a custom answer replaces a single choice, and is added to several", () => {
    expect(one(color, write(color, choose(color, EMPTY, "Red", true), "green"))).toBe("green");
    expect(one(color, choose(color, write(color, EMPTY, "green"), "Red", true))).toBe("Red");
    expect(one(many, write(many, choose(many, EMPTY, "Red", true), "green"))).toEqual(["Red", "green"]);
    expect(one(free, write(free, EMPTY, " secret "))).toBe(" secret ");
  });

  test("nothing is sent while a question has no answer", () => {
    expect(
      readAnswers([color, free], new Map([["color", choose(color, EMPTY, "Red", true)]])),
    ).toBeUndefined();
  });
});

describe("outcome", () => {
  test("says who answered, what, and why", () => {
    expect(
      describeOutcome(
        row(
          {},
          {
            status: "resolved",
            resolution_source: "tui",
            answer: { decision: "decline", message: "not\nnow" },
          },
        ),
      ),
    ).toBe("Declined in the terminal UI: “not now”");
    expect(
      describeOutcome(
        row({}, { status: "resolved", resolution_source: "policy", answer: { decision: "accept" } }),
      ),
    ).toBe("Accepted by a rule");
    const claimed = { status: "resolved", resolution_source: "web", answer: { decision: "accept" } } as const;
    const by = (answered_by: AnsweredBy) => describeOutcome(row({}, { ...claimed, answered_by }));
    expect(by({ actor: "agent:5a01f0d8-0760", via: "http" })).toBe("Accepted by agent 5a01f0d8");
    expect(by({ actor: "unknown", via: "http" })).toBe("Accepted by an unknown program over HTTP");
    expect(by({ actor: "person", via: "http" })).toBe("Accepted by a person over HTTP");
    expect(describeOutcome(row({}, { status: "orphaned" }))).toContain(
      "No longer needed: the agent has ended",
    );
  });
});
