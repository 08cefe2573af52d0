// agent.* frames as the Claude Code events that a blemees/1 client knows.
import { expect, test } from "vitest";
import { toClaudeFrame } from "../../../src/protocol/wire/claude-view.ts";

const head = { session_id: "s", seq: 7, backend: "claude" };

test("a frame with its native event is that event, prefixed, with our session_id and seq", () => {
  const raw = { type: "assistant", session_id: "native", message: { id: "m" }, uuid: "u" };
  expect(toClaudeFrame({ ...head, type: "agent.message", raw })).toEqual({
    type: "claude.assistant",
    message: { id: "m" },
    uuid: "u",
    session_id: "s",
    seq: 7,
  });
});

test.each([
  [
    { type: "agent.system_init", model: "m", cwd: "/x", tools: ["Bash"] },
    { type: "claude.system", subtype: "init", model: "m", cwd: "/x", tools: ["Bash"] },
  ],
  [
    { type: "agent.delta", kind: "text", text: "a", index: 2 },
    {
      type: "claude.stream_event",
      event: { type: "content_block_delta", index: 2, delta: { type: "text_delta", text: "a" } },
    },
  ],
  [
    { type: "agent.delta", kind: "thinking", text: "hm" },
    { type: "claude.stream_event", event: { delta: { type: "thinking_delta", thinking: "hm" } } },
  ],
  [
    { type: "agent.delta", kind: "tool_input", partial_json: "{" },
    { type: "claude.stream_event", event: { delta: { type: "input_json_delta", partial_json: "{" } } },
  ],
  [
    { type: "agent.message", role: "assistant", content: [{ type: "text", text: "a" }] },
    { type: "claude.assistant", message: { role: "assistant", content: [{ type: "text", text: "a" }] } },
  ],
  [
    { type: "agent.tool_result", tool_use_id: "t", output: "x", is_error: true },
    {
      type: "claude.user",
      message: { content: [{ type: "tool_result", tool_use_id: "t", content: "x", is_error: true }] },
    },
  ],
  [
    { type: "agent.result", subtype: "success", duration_ms: 5, num_turns: 1 },
    { type: "claude.result", subtype: "success", is_error: false, duration_ms: 5, num_turns: 1 },
  ],
  [
    { type: "agent.result", subtype: "interrupted", num_turns: 1 },
    { type: "claude.result", subtype: "error_during_execution", is_error: true },
  ],
  [
    { type: "agent.result", subtype: "max_turns" },
    { type: "claude.result", subtype: "error_max_turns", is_error: true },
  ],
  [
    { type: "agent.result", subtype: "error", error: { code: "x", message: "why" } },
    { type: "claude.result", is_error: true, errors: ["why"] },
  ],
])("%j without native event is shown as the nearest one", (frame, shown) => {
  expect(toClaudeFrame({ ...head, ...frame })).toMatchObject({ ...shown, session_id: "s", seq: 7 });
});

test("a frame that says null for its native event was shown with an earlier frame", () => {
  const result = { ...head, type: "agent.tool_result", tool_use_id: "t", output: "x" };
  expect(toClaudeFrame({ ...result, raw: null })).toBeUndefined();
});

test("the native event of another vendor is not passed for one of Claude's", () => {
  const raw = { method: "item/completed", params: {} };
  const frame = { ...head, backend: "codex", type: "agent.message", role: "assistant", content: [], raw };
  expect(toClaudeFrame(frame)).toMatchObject({ type: "claude.assistant", message: { role: "assistant" } });
});

test("what Claude has no event for is not shown", () => {
  expect(
    toClaudeFrame({ ...head, type: "agent.notice", level: "info", category: "task_started" }),
  ).toBeUndefined();
});

test("a frame that could not be stored says so", () => {
  const { seq: _, ...unstored } = head;
  const frame = { ...unstored, persisted: false, type: "agent.message", role: "assistant", content: [] };
  expect(toClaudeFrame(frame)).toMatchObject({ type: "claude.assistant", persisted: false });
  expect(toClaudeFrame(frame)).not.toHaveProperty("seq");
});
