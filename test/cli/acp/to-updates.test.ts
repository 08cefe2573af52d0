// Frames of a session as updates for an editor: rules, and all recorded traffic of all agents.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { SessionUpdate } from "@agentclientprotocol/sdk";
import { describe, expect, test } from "vitest";
// Not exported by the package: what it validates every frame with.
import { zSessionUpdate } from "../../../node_modules/@agentclientprotocol/sdk/dist/v1/schema/zod.gen.js";
import { createUpdateState, toUpdates } from "../../../src/cli/acp/to-updates.ts";
import type { WireFrame } from "../../../src/client/index.ts";
import { readLines } from "../../backends/recorded.ts";
import { ROOT } from "../../support/root.ts";

const CWD = "/home/user/project";
const text = (words: string) => ({ type: "text", text: words });

function run(frames: readonly object[], own: readonly string[] = []): SessionUpdate[] {
  const state = createUpdateState(CWD);
  for (const id of own) state.own.add(id);
  return frames.flatMap((frame) => toUpdates(state, frame as WireFrame));
}

const notice = (category: string, data: object, more: object = {}) => ({
  type: "agent.notice",
  level: "info",
  category,
  data,
  ...more,
});

describe("texts", () => {
  test("a message that was streamed is not sent again, one that was not is", () => {
    const message = (...content: object[]) => ({ type: "agent.message", role: "assistant", content });
    const updates = run([
      { type: "agent.delta", kind: "thinking", text: "hm" },
      message({ type: "thinking", thinking: "hm" }),
      { type: "agent.delta", kind: "text", text: "one " },
      { type: "agent.delta", kind: "text", text: "two" },
      message(text("one two")),
      message(text("three")),
    ]);
    expect(updates).toEqual([
      { sessionUpdate: "agent_thought_chunk", content: text("hm") },
      { sessionUpdate: "agent_message_chunk", content: text("one ") },
      { sessionUpdate: "agent_message_chunk", content: text("two") },
      { sessionUpdate: "agent_message_chunk", content: text("three") },
    ]);
  });

  test("what others wrote is shown once, and what this editor wrote is not", () => {
    const echo = (words: string) => ({ type: "agent.user_echo", message: { role: "user", content: words } });
    const updates = run(
      [
        notice("input_delivered", { message_id: "msg_1", kind: "message" }, { text: "mine" }),
        echo("mine"),
        notice("input_delivered", { message_id: "msg_2", kind: "message" }, { text: "theirs" }),
        echo("theirs"),
        echo("by the owner of the socket"),
      ],
      ["msg_1"],
    );
    expect(updates).toEqual([
      { sessionUpdate: "user_message_chunk", content: text("theirs"), messageId: "msg_2" },
      { sessionUpdate: "user_message_chunk", content: text("by the owner of the socket") },
    ]);
  });

  test("a sub-agent's text is left out; its calls name the call that started it", () => {
    const parent_tool_use_id = "toolu_1";
    const updates = run([
      { type: "agent.delta", kind: "text", text: "inner", parent_tool_use_id },
      {
        type: "agent.tool_use",
        tool_use_id: "toolu_2",
        name: "Read",
        input: { file_path: "a.ts" },
        parent_tool_use_id,
      },
    ]);
    expect(updates).toMatchObject([
      {
        sessionUpdate: "tool_call",
        kind: "read",
        locations: [{ path: `${CWD}/a.ts` }],
        _meta: { blemees: { parentToolCallId: parent_tool_use_id } },
      },
    ]);
  });

  test("an error that has no other place becomes text", () => {
    const updates = run([notice("error_reported", {}, { level: "error", text: "the model is away" })]);
    expect(updates).toMatchObject([{ content: { text: "\n[the model is away]\n" } }]);
  });
});

describe("tool calls", () => {
  const use = (name: string, input: object) => ({ type: "agent.tool_use", tool_use_id: "t", name, input });

  test("an edit shows its old and new lines", () => {
    const [call] = run([use("Edit", { file_path: "a.ts", old_string: "one\ntwo", new_string: "one\n2" })]);
    expect(call).toMatchObject({
      kind: "edit",
      content: [{ type: "diff", path: `${CWD}/a.ts`, oldText: "one\ntwo", newText: "one\n2" }],
    });
  });

  test("output that streams is sent in few updates, and whole at the end", () => {
    const pieces = Array.from({ length: 1_000 }, (_, at) =>
      notice("tool_output", { tool_use_id: "t", text: `${at}\n` }),
    );
    const whole = pieces.map(({ data }) => (data as { text: string }).text).join("");
    const updates = run([
      use("Bash", { command: "seq 1000" }),
      ...pieces,
      { type: "agent.tool_result", tool_use_id: "t", output: whole },
    ]);
    expect(updates.length).toBeLessThan(30);
    expect(updates.at(-1)).toMatchObject({ status: "completed", content: [{ content: { text: whole } }] });
  });

  test("a call without a result is closed with the turn", () => {
    const updates = run([
      use("Bash", { command: "sleep 1" }),
      { type: "agent.result", subtype: "interrupted" },
    ]);
    expect(updates.at(-1)).toEqual({ sessionUpdate: "tool_call_update", toolCallId: "t", status: "failed" });
  });

  test("an input that is too large is cut", () => {
    const [call] = run([use("Write", { file_path: "a", content: "x".repeat(1_000_000) })]);
    expect(JSON.stringify(call).length).toBeLessThan(450_000);
  });
});

const recorded = ["acp", "claude", "codex", "demian"].flatMap((agent) =>
  readdirSync(join(ROOT, "test/fixtures", agent))
    .filter((name) => name.endsWith(".agent.jsonl"))
    .map((name) => `${agent}/${name}`),
);

describe("recorded traffic", () => {
  test("there is some, so the test below means something", () => {
    expect(recorded.length).toBeGreaterThan(60);
  });

  test.each(recorded)("%s becomes valid updates, with each call opened and closed once", (name) => {
    const frames = readLines(join(ROOT, "test/fixtures", name)).filter(
      ({ type }) => typeof type === "string",
    );
    const updates = run(frames);
    // Equal after parsing: no field is unknown to the protocol.
    for (const update of updates) expect(zSessionUpdate.parse(update)).toEqual(update);
    const opened = updates.flatMap((one) => (one.sessionUpdate === "tool_call" ? [one.toolCallId] : []));
    const used = frames.flatMap(({ type, tool_use_id }) => (type === "agent.tool_use" ? [tool_use_id] : []));
    expect(opened).toEqual([...new Set(used)]);
  });
});
