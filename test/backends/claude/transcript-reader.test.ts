// Transcripts as events: a recorded one of 2.1.197, and what only some of them have.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createTranscriptReader } from "../../../src/backends/claude/transcript-reader.ts";
import type { JsonObject } from "../../../src/base/json.ts";
import { AgentEvent } from "../../../src/protocol/events.ts";

const RECORDED = join(import.meta.dirname, "../../fixtures/claude-transcripts/tools.jsonl");

function read(records: readonly JsonObject[]): AgentEvent[] {
  const reader = createTranscriptReader();
  const events = records.flatMap((record) => reader.read(record));
  return [...events, ...reader.end()].map((event) => AgentEvent.parse(event));
}

const user = (content: unknown, more: object = {}) => ({
  type: "user",
  message: { role: "user", content },
  ...more,
});
const assistant = (text: string, stop_reason: string | null, more: object = {}) => ({
  type: "assistant",
  message: { id: "m", model: "opus", content: [{ type: "text", text }], stop_reason },
  ...more,
});
const typesOf = (events: AgentEvent[]) =>
  events.map((event) => (event.type === "agent.result" ? `result ${event.subtype}` : event.type.slice(6)));

test("a recorded transcript is its messages, calls and results, each turn with an end", () => {
  const lines = readFileSync(RECORDED, "utf8").trim().split("\n");
  const events = read(lines.map((line) => JSON.parse(line) as JsonObject));
  expect(typesOf(events)).toEqual([
    ...["user_echo", "message", "message", "tool_use", "tool_result", "message", "result success"],
    ...["user_echo", "message", "tool_use", "tool_result", "message", "result success"],
    ...["user_echo", "message", "tool_use", "message", "tool_use", "tool_result", "tool_result"],
    ...["message", "result success"],
  ]);
  expect(events[0]).toMatchObject({
    message: { content: "#mock:bash echo hello-$((1+1)) && ls -d /proc/self" },
  });
  expect(events[3]).toMatchObject({ name: "Bash" });
  expect(events[4]).toMatchObject({ output: "hello-2\n/proc/self", is_error: false });
});

test("a turn without an end is closed by the next message, by an interrupt, or by the end of the file", () => {
  const events = read([
    user("one"),
    assistant("half", null),
    user("two"),
    user([{ type: "text", text: "[Request interrupted by user]" }]),
    user("three"),
  ]);
  expect(typesOf(events)).toEqual([
    ...["user_echo", "message", "result success"],
    ...["user_echo", "result interrupted"],
    ...["user_echo", "result interrupted"],
  ]);
});

test("what no one wrote is left out: commands, summaries, sub-agents and placeholders", () => {
  const events = read([
    user("<command-name>/clear</command-name>"),
    user("a summary", { isCompactSummary: true }),
    user("of a tool", { isMeta: true }),
    user("for a sub-agent", { isSidechain: true }),
    assistant("No response requested.", "stop_sequence", {
      message: { model: "<synthetic>", content: [{ type: "text", text: "No response requested." }] },
    }),
    { type: "system", subtype: "compact_boundary" },
    { type: "attachment" },
    {},
  ]);
  expect(typesOf(events)).toEqual(["notice"]);
  expect(events[0]).toMatchObject({ category: "compacted" });
});
