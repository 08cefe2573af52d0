// One line about a frame: the most informative part, bounded, and safe for a terminal.
import fc from "fast-check";
import { expect, test } from "vitest";
import { previewFrame } from "../../src/sessions/views/preview.ts";

test.each([
  [{ type: "agent.system_init", model: "m", cwd: "/w" }, "m /w"],
  [{ type: "agent.delta", kind: "text", text: "hello\nworld" }, "hello world"],
  [{ type: "agent.delta", kind: "tool_input", partial_json: '{"a' }, '{"a'],
  [{ type: "agent.message", content: [{ type: "text", text: "a" }, { type: "image" }] }, "a [image]"],
  [{ type: "agent.user_echo", message: { role: "user", content: "do it" } }, "do it"],
  [{ type: "agent.tool_use", name: "Bash", input: { command: "make  test" } }, "Bash make test"],
  [{ type: "agent.tool_use", name: "shell", input: { command: ["ls", "-l"] } }, "shell ls -l"],
  [{ type: "agent.tool_use", name: "Odd", input: { n: 1 } }, 'Odd {"n":1}'],
  [{ type: "agent.tool_use", name: "None", input: {} }, "None"],
  [{ type: "agent.tool_result", output: [{ type: "text", text: "ok" }] }, "ok"],
  [{ type: "agent.tool_result", output: { code: 1 }, is_error: true }, 'error: {"code":1}'],
  [{ type: "agent.notice", category: "task_started" }, "task_started"],
  [{ type: "agent.notice", category: "c", text: "t" }, "c: t"],
  [{ type: "agent.result", subtype: "error", error: { message: "boom" } }, "error boom"],
  [{ type: "blemeesd.error", code: "auth_failed", message: "log in" }, "auth_failed: log in"],
  [{ type: "blemeesd.stderr", line: "warning" }, "warning"],
  [{ type: "something.else" }, ""],
  [{ type: "toString" }, ""],
])("%j is shown as %j", (frame, line) => {
  expect(previewFrame(frame)).toBe(line);
});

test("it is cut to 200 characters, never inside one, and controls are shown", () => {
  const long = previewFrame({ type: "agent.delta", text: "😀".repeat(300) });
  expect(long.length).toBeLessThanOrEqual(200);
  expect(long).toMatch(/^(😀)+…$/u);
  expect(previewFrame({ type: "agent.delta", text: "\u001b[31mred\u202e" })).toBe("\\x1b[31mred<U+202E>");
});

test("for any frame it is one line of at most 200 characters", () => {
  const types = [
    "agent.delta",
    "agent.message",
    "agent.tool_use",
    "agent.tool_result",
    "agent.notice",
    "agent.result",
  ];
  const frame = fc.record({
    type: fc.constantFrom(...types, "agent.user_echo", "agent.system_init", "blemeesd.error"),
    text: fc.anything(),
    content: fc.anything(),
    message: fc.anything(),
    input: fc.anything(),
    output: fc.anything(),
    error: fc.anything(),
  });
  fc.assert(
    fc.property(frame, (one) => {
      const line = previewFrame(one);
      expect(line.length).toBeLessThanOrEqual(200);
      expect(line).not.toMatch(/[\n\r]/);
    }),
  );
});
