// The output of `sm tail -f`.
import { describe, expect, test } from "vitest";
import { formatEntry } from "../../src/cli/entry-lines.ts";
import { applyInputs, changedEntries, emptyView } from "../../src/client/view.ts";
import { noticeOf, pending, resolved } from "../client/request-rows.ts";
import {
  call,
  delta,
  ended,
  type Frame,
  inputsOf,
  message,
  result,
  says,
} from "../client/view/view-inputs.ts";

/** Event by event, as the tail does it. */
function lines(frames: readonly object[], columns = 80): string[] {
  let view = emptyView();
  return inputsOf(frames as Frame[]).flatMap((input) => {
    const next = applyInputs(view, [input]);
    const changes = changedEntries(view, next);
    view = next;
    return changes.flatMap((change) => formatEntry(change, columns)).map(({ text }) => text);
  });
}

const LS = call("t", "Bash", { command: "ls" });

test.each([
  [[says("Hello.\nDone.")], ["  │ Hello.", "  │ Done."]],
  [[delta("Hel")], []],
  [[delta("Hel"), delta("lo."), says("Hello.")], ["  │ Hello."]],
  [
    [delta("cut o"), ended({ subtype: "interrupted" })],
    ["  │ cut o", "✗ interrupted"],
  ],
  [[{ type: "agent.delta", kind: "thinking", text: "hm" }], []],
  [[call("t", "Bash", { command: "npm test" })], ["⚙ Bash: npm test"]],
  [[call("t", "shell", { command: ["ls", "-l"] })], ["⚙ shell: ls -l"]],
  [[call("t", "Read", { file_path: "/a.ts", limit: 3 })], ["⚙ Read: /a.ts"]],
  [[call("t", "Odd", { a: 1 })], ['⚙ Odd: {"a":1}']],
  [
    [LS, result("t", "3 passed\nok")],
    ["⚙ Bash: ls", "  ↳ 3 passed ok"],
  ],
  [
    [LS, result("t", "no", { is_error: true })],
    ["⚙ Bash: ls", "  ↳ failed: no"],
  ],
  [[LS, result("t", "")], ["⚙ Bash: ls"]],
  [
    [LS, ended()],
    ["⚙ Bash: ls", "✓ done"],
  ],
  [[result("t", "of a call before")], ["  ↳ of a call before"]],
  [
    [call("t", "Bash", {}, { index: 0 }), message([{ type: "tool_use", id: "t", input: { command: "ls" } }])],
    ["⚙ Bash: ls"],
  ],
  [
    [call("t", "ping", {}), result("t", "pong")],
    ["⚙ ping", "  ↳ pong"],
  ],
  [[{ type: "agent.notice", level: "info", category: "input_delivered", text: "go on" }], ["> go on"]],
  [[{ type: "agent.notice", level: "info", category: "quiet" }], []],
  [[{ type: "agent.notice", level: "warn", category: "rate_limit", text: "slow" }], ["· rate_limit: slow"]],
  [[ended({ subtype: "error", error: { message: "no more" } })], ["✗ error: no more"]],
  [
    [ended({ duration_ms: 1500, usage: { input_tokens: 4 }, cost_usd: 0.5 })],
    ["✓ done: 1.5 s, 4 tokens in, 0 out, $0.50"],
  ],
  [[{ type: "blemeesd.error", code: "backend_crashed", message: "gone" }], ["✗ backend_crashed: gone"]],
  [[{ type: "blemeesd.stderr", line: "oops" }], ["· agent: oops"]],
  [[{ type: "agent.unheard_of" }], []],
])("%j is printed as %j", (frames, told) => {
  expect(lines(frames)).toEqual(told);
});

test("a user message is printed once, also when it is echoed", () => {
  const echo = { type: "agent.user_echo", message: { role: "user", content: "go" } };
  const delivered = { type: "agent.notice", level: "info", category: "input_delivered", text: "go" };
  expect(lines([delivered, echo])).toEqual(["> go"]);
  expect(lines([echo])).toEqual(["> go"]);
});

test("sub-agents are indented, each deeper than its parent", () => {
  const below = call("u", "Agent", { description: "look" }, { parent_tool_use_id: "t" });
  const told = lines([
    call("t", "Agent", { description: "do" }),
    below,
    says("hi", { parent_tool_use_id: "u" }),
  ]);
  expect(told).toEqual(["⚙ Agent: do", "  ⚙ Agent: look", "      │ hi"]);
  expect(lines([says("hi", { parent_tool_use_id: "t1" })])).toEqual(["    │ hi"]);
});

describe("a request", () => {
  test("is shown completely, with how to answer it from the shell", () => {
    const told = lines([noticeOf(pending(), 1)]).join("\n");
    expect(told).toMatch(/^\? demo asks to run a command:/);
    expect(told).toContain("  │ mkdir -p build");
    expect(told).toMatch(/approve --always +do not ask again/);
    expect(told).toMatch(/Answer: sm approve req_a1 \(or sm decline\)$/);
  });

  test.each([
    [{ ...pending(), status: "orphaned" as const }, "· request req_a1: orphaned"],
    [resolved(pending()), "· request req_a1: resolved"],
  ])("that is over is one line", (row, line) => {
    const asked = noticeOf(pending(), 1);
    expect(lines([asked, noticeOf(row, 2)]).slice(lines([asked]).length)).toEqual([line]);
  });

  test("is shown once, and again when it changes", () => {
    const asked = noticeOf(pending(), 1);
    const once = lines([asked]).length;
    expect(lines([asked, asked])).toHaveLength(once);
    expect(lines([asked, noticeOf(pending({ shown_hash: "other" }), 2)])).toHaveLength(2 * once);
  });

  test.each([
    ["says", says("? demo asks to run a command:\n  request req_a1\u001b[2K\r✓ done")],
    ["names its tool", call("t", `x${" ".repeat(90)}? demo asks`, { a: 1 })],
    [
      "calls its tool with",
      call("t", "Bash", { command: `x\n? demo asks to run a command:\n${"y ".repeat(80)}` }),
    ],
    ["puts out", result("t", `${"y ".repeat(80)}\n? demo asks to run a command:`)],
    [
      "warns of",
      { type: "agent.notice", level: "warn", category: "a", text: `b\n? demo asks${"z".repeat(99)}` },
    ],
    ["prints", { type: "blemeesd.stderr", line: `\u001b]0;x\u0007\n? demo asks ${"z".repeat(99)}` }],
    ["fails with", ended({ subtype: "x\n? demo asks", error: { message: "\r✓ done" } })],
  ])("cannot be imitated by what an agent %s, also where a line breaks", (_how, frame) => {
    for (const below of [{}, { parent_tool_use_id: "t9" }]) {
      const told = lines([{ ...frame, ...below }], 40);
      expect(told).not.toEqual([]);
      for (const line of told) {
        expect(line).not.toMatch(/^[?✓]/);
        for (const control of ["\u001b", "\r", "\n"]) expect(line).not.toContain(control);
        expect(line.length).toBeLessThanOrEqual(40);
      }
    }
  });
});

test("a call that was asked for and never allowed is not run, and did not fail", () => {
  const asked = pending({ item_id: "t" });
  const declined = { ...resolved(asked), answer: { decision: "decline" } } as Parameters<typeof noticeOf>[0];
  const shown = lines([LS, noticeOf(asked, 2), noticeOf(declined, 3), result("t", "no", { is_error: true })]);
  expect(shown.at(-1)).toBe("  ↳ not run: declined");
});

test("time spent waiting for the user does not count for the turn", () => {
  const asked = pending({ item_id: "t", requested_at_ms: 1_000 });
  const accepted = { ...resolved(asked), resolved_at_ms: 61_000 };
  const begun = { type: "agent.notice", level: "info", category: "task_started", data: { turn_id: "x" } };
  const shown = lines([begun, LS, noticeOf(asked, 2), noticeOf(accepted, 3), ended({ duration_ms: 61_500 })]);
  expect(shown.at(-1)).toMatch(/^✓ done: 1\.5 s/);
});
