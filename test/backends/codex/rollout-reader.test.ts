// Rollouts as events: recorded ones of 0.166, and older forms.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createRolloutReader } from "../../../src/backends/codex/rollout-reader.ts";
import { createRollouts } from "../../../src/backends/codex/rollouts.ts";
import type { JsonObject } from "../../../src/base/json.ts";
import { AgentEvent } from "../../../src/protocol/events.ts";

const RECORDED = join(import.meta.dirname, "../../fixtures/codex-rollouts");

function read(records: readonly JsonObject[]): AgentEvent[] {
  const reader = createRolloutReader();
  const events = records.flatMap((record) => reader.read(record));
  return [...events, ...reader.end()].map((event) => AgentEvent.parse(event));
}

async function readRecorded(id: string): Promise<AgentEvent[]> {
  const file = await createRollouts(RECORDED).find(id);
  const lines = readFileSync(file?.path ?? "", "utf8")
    .trim()
    .split("\n");
  return read(lines.map((line) => JSON.parse(line) as JsonObject));
}

const typesOf = (events: AgentEvent[]) =>
  events.map((event) => (event.type === "agent.result" ? `result ${event.subtype}` : event.type.slice(6)));
const item = (payload: object) => ({ type: "response_item", payload: { ...payload } });

test("a recorded conversation has the user's words without Codex's own, thoughts, and an end of each turn", async () => {
  const events = await readRecorded("01a1e081-4b55-74a0-8a2b-3165a8ca240b");
  expect(typesOf(events).slice(0, 7)).toEqual([
    ...["user_echo", "message", "result success"],
    ...["user_echo", "message", "message", "result success"],
  ]);
  expect(events[0]).toMatchObject({
    message: { content: [{ type: "text", text: "first #mock:text Answer one." }] },
  });
  expect(events[4]).toMatchObject({ content: [{ type: "thinking" }] });
});

test("patches are calls with their results, and an interrupted turn ends so", async () => {
  const events = await readRecorded("01a1e081-6b20-78b0-82f7-656229101fba");
  const types = typesOf(events);
  expect(types.slice(0, 5)).toEqual(["user_echo", "tool_use", "tool_result", "message", "result success"]);
  expect(events[1]).toMatchObject({ name: "apply_patch" });
  expect(types).toContain("result interrupted");
  const calls = events.filter(({ type }) => type === "agent.tool_use").length;
  expect(events.filter(({ type }) => type === "agent.tool_result")).toHaveLength(calls);
});

test("older forms: commands as JSON text, output with metadata, and lines that are the item", () => {
  const events = read([
    { type: "message", role: "user", content: [{ type: "input_text", text: "go" }] },
    item({ type: "function_call", call_id: "c", name: "shell", arguments: '{"command":["ls"]}' }),
    item({ type: "function_call_output", call_id: "c", output: '{"output":"a.txt","metadata":{}}' }),
    item({ type: "function_call", call_id: "d", name: "exec_command", arguments: '{"cmd":"pwd"}' }),
    item({ type: "local_shell_call", call_id: "e", action: { type: "exec", command: ["id"] } }),
    item({ type: "web_search_call" }),
  ]);
  expect(events).toMatchObject([
    { message: { content: [{ text: "go" }] } },
    { name: "shell", input: { command: ["ls"] } },
    { tool_use_id: "c", output: "a.txt" },
    { name: "shell", input: { command: "pwd" } },
    { name: "shell", input: { command: ["id"] } },
    { type: "agent.result", subtype: "interrupted" },
  ]);
});
