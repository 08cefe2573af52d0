// Output of a running tool becomes rows, for every agent: each translator's own events are the input.
import { describe, expect, test } from "vitest";
import { createState as newClaudeState } from "../../src/backends/claude/state.ts";
import { translate as translateClaude } from "../../src/backends/claude/translate.ts";
import { createState as newMcpState } from "../../src/backends/codex/mcp-server/state.ts";
import { translate as translateMcp } from "../../src/backends/codex/mcp-server/translate.ts";
import type { JsonObject } from "../../src/base/json.ts";
import type { AgentEvent } from "../../src/protocol/events.ts";
import { play, running, update } from "../backends/acp/frames.ts";
import { Bench } from "./replays.ts";

const eventsOf = (reports: readonly { kind: string; event?: AgentEvent }[]): AgentEvent[] =>
  reports.flatMap(({ event }) => event ?? []);

function acp(...updates: JsonObject[]): AgentEvent[] {
  const call = { sessionUpdate: "tool_call", toolCallId: "c", kind: "execute", status: "in_progress" };
  const frames = [{ ...call, rawInput: { command: "make" } }, ...updates].map(update);
  return eventsOf(play(running({}), frames));
}

function outputs(backend: string, events: readonly AgentEvent[]): unknown[] {
  const bench = new Bench(backend);
  for (const event of events) {
    bench.nowMs += 2000;
    bench.event(event);
  }
  return bench.tools
    .filter((row) => row.event_type === "output_delta")
    .map((row) => JSON.parse(row.raw_payload_json ?? "{}"));
}

describe("the output of a running tool is observed", () => {
  const more = { sessionUpdate: "tool_call_update", toolCallId: "c", status: "in_progress" };

  test("of an ACP agent that sends pieces of a terminal", () => {
    const piece = (data: string) => ({ ...more, _meta: { terminal_output_delta: { data } } });
    expect(outputs("other", acp(piece("a\n"), piece("b\n")))).toMatchObject([
      { chars: 2, tail: "a\n" },
      { chars: 4, tail: "a\nb\n" },
    ]);
  });

  test("of an ACP agent that resends all of it", () => {
    const all = (text: string) => ({
      ...more,
      content: [{ type: "content", content: { type: "text", text } }],
    });
    expect(outputs("other", acp(all("a"), all("a\nb")))).toMatchObject([
      { chars: 1, tail: "a" },
      { chars: 3, tail: "a\nb" },
    ]);
  });

  test("of an old Codex", () => {
    const state = newMcpState({}, "t");
    state.requestId = 3;
    const event = (msg: JsonObject) =>
      eventsOf(translateMcp(state, "codex/event", { _meta: { requestId: 3, threadId: "t" }, msg }));
    const chunk = Buffer.from("out\n").toString("base64");
    const events = [
      ...event({ type: "exec_command_begin", call_id: "c", command: ["make"] }),
      ...event({ type: "exec_command_output_delta", call_id: "c", chunk }),
    ];
    expect(outputs("codex", events)).toMatchObject([{ chars: 4, tail: "out\n" }]);
  });

  test("of Claude there is none: it reports only how long a tool has run", () => {
    const state = newClaudeState({ session_id: "s", options: {}, projects: "/p" });
    const content = [{ type: "tool_use", id: "c", name: "Bash", input: { command: "make" } }];
    const frames = [
      { type: "assistant", message: { role: "assistant", content } },
      { type: "tool_progress", tool_use_id: "c", tool_name: "Bash", elapsed_time_seconds: 2.5 },
    ];
    const events = frames.flatMap((frame) => eventsOf(translateClaude(state, frame)));
    expect(events.at(-1)).toMatchObject({
      category: "tool_progress",
      data: { tool_use_id: "c", elapsed_ms: 2500 },
    });
    expect(outputs("claude", events)).toEqual([]);
  });
});

test("an input that becomes known late is in the end row", () => {
  const bench = new Bench("other");
  const [begin, late] = acp({
    sessionUpdate: "tool_call_update",
    toolCallId: "c",
    rawInput: { command: "make test" },
    status: "in_progress",
  });
  if (begin?.type !== "agent.tool_use" || late === undefined) throw new Error("no call, or no update of it");
  bench.event({ ...begin, name: "bash" });
  bench.event(late);
  bench.event({
    type: "agent.tool_result",
    backend: "other",
    tool_use_id: "c",
    output: "ok",
    is_error: false,
  });
  expect(bench.tools.map(({ command }) => command)).toEqual(["make", "make test"]);
});
