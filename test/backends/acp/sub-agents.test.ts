// demian's sub-agents in a session's stream: their start, actions, requests, end and cost.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createAcpBackend } from "../../../src/backends/acp/index.ts";
import { toReply } from "../../../src/backends/acp/requests.ts";
import type { AcpReport } from "../../../src/backends/acp/state.ts";
import { abandonTurn, beginTurn, type Frame, translate } from "../../../src/backends/acp/translate.ts";
import type { JsonObject } from "../../../src/base/json.ts";
import { AgentEvent } from "../../../src/protocol/events.ts";
import { fakeAgent } from "./fake.ts";
import { DEMIAN, eventsOf, play, running, told, update } from "./frames.ts";

const CHILD = {
  _meta: { demian: { parentToolCallId: "d1", agentPath: ["reviewer"], invocationId: "inv_1" } },
};
const delegate = update({
  sessionUpdate: "tool_call",
  toolCallId: "d1",
  name: "delegate_agent",
  kind: "think",
  status: "in_progress",
  rawInput: { agent: "reviewer", task: "look" },
});
const about = { callId: "d1", targetAgent: "reviewer", agentPath: ["reviewer"] };
const started = told(
  { type: "agent.invocation.started", ...about, provider: "big", model: "large", depth: 1, handoffTokens: 9 },
  { toolCallId: "d1", parentToolCallId: "d1" },
);
const usage = { inputTokens: 7, outputTokens: 3, cacheReadTokens: 2, costUsd: 0.25 };
const ended = (type: string, more: JsonObject = {}) =>
  told(
    { type: `agent.invocation.${type}`, ...about, turns: 2, usage, durationMs: 40, ...more },
    { toolCallId: "d1", parentToolCallId: "d1" },
  );
const says = (text: string, messageId = "m1", type = "model.text.delta") =>
  told({ type, text, ...about }, { messageId, parentToolCallId: "d1" });
const childTool = (body: JsonObject) =>
  update({ sessionUpdate: "tool_call_update", toolCallId: "c1", ...body, ...CHILD });
const main = (text: string, messageId = "main") =>
  update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text }, messageId });
const delegated = update({
  sessionUpdate: "tool_call_update",
  toolCallId: "d1",
  status: "completed",
  rawOutput: "all is well",
});
const end = (more: JsonObject = {}): Frame => ({
  kind: "answer",
  answer: { result: { stopReason: "end_turn", ...more } },
});

const names = (reports: AcpReport[]): string[] =>
  reports.map((report) => {
    if (report.kind !== "event") return report.kind;
    const { event } = report;
    const name = event.type === "agent.notice" ? event.category : event.type.slice("agent.".length);
    return event.parent_tool_use_id === undefined ? name : `${event.parent_tool_use_id}/${name}`;
  });

describe("a sub-agent", () => {
  test("is reported from its start to its end, all of it under the call that started it", () => {
    const state = running();
    const reports = play(state, [
      main("I ask."),
      delegate,
      started,
      says("Let me "),
      says("look."),
      childTool({ name: "read_file", rawInput: { path: "a" }, status: "in_progress" }),
      childTool({ status: "completed", rawOutput: "x" }),
      says("It is fine.", "m2", "model.text"),
      ended("completed", { preview: "It is fine." }),
      delegated,
      main("Done.", "main2"),
      end(),
    ]);
    expect(names(reports)).toEqual([
      "delta",
      "message",
      "tool_use",
      "d1/subagent_started",
      "d1/delta",
      "d1/delta",
      "d1/message",
      "d1/tool_use",
      "d1/tool_result",
      "d1/delta",
      "d1/message",
      "d1/subagent_finished",
      "tool_result",
      "delta",
      "message",
      "result",
    ]);
    const notices = eventsOf(reports).filter(({ type }) => type === "agent.notice");
    const who = { path: ["reviewer"], agent: "reviewer", provider: "big", model: "large" };
    expect(notices).toMatchObject([
      { level: "info", text: "reviewer: big/large", data: { ...who, depth: 1, handoff_tokens: 9 } },
      {
        level: "info",
        data: {
          ...who,
          subtype: "success",
          num_turns: 2,
          duration_ms: 40,
          usage: { input_tokens: 7, output_tokens: 3, cache_read_input_tokens: 2 },
          cost_usd: 0.25,
        },
      },
    ]);
    const answer = eventsOf(reports).filter(
      (event) => event.type === "agent.message" && event.phase !== undefined,
    );
    expect(answer).toMatchObject([{ content: [{ text: "Done." }], phase: "final_answer" }]);
    for (const event of eventsOf(reports)) expect(AgentEvent.safeParse(event).error).toBeUndefined();
  });

  test("that wrote the last message does not provide the turn's result text", () => {
    const state = running();
    play(state, [main("mine"), delegate, started, says("theirs"), ended("completed"), delegated]);
    expect(state.turn?.lastText).toBe("mine");
  });

  test.each([
    ["failed", "error", "error"],
    ["cancelled", "interrupted", "info"],
  ])("that %s is reported as %s with the reason", (type, subtype, level) => {
    const reports = play(running(), [delegate, started, ended(type, { reason: "the key is wrong" })]);
    expect(eventsOf(reports).at(-1)).toMatchObject({
      category: "subagent_finished",
      level,
      text: expect.stringContaining("the key is wrong"),
      data: { subtype, reason: "the key is wrong" },
    });
  });

  test("that is running when the agent dies is closed: its tool, the sub-agent, the call that started it", () => {
    const state = running();
    play(state, [
      delegate,
      started,
      says("hm"),
      childTool({ rawInput: { path: "a" }, status: "in_progress" }),
    ]);
    const reports = abandonTurn(state, "demian died");
    expect(names(reports)).toEqual(["d1/tool_result", "d1/subagent_finished", "tool_result"]);
    expect(eventsOf(reports)[1]).toMatchObject({ data: { subtype: "interrupted", reason: "demian died" } });
    expect(abandonTurn(state, "again")).toEqual([]);
  });

  test("of a sub-agent is closed before it, each after its own events", () => {
    const state = running();
    const below = (toolCallId: string, parentToolCallId: string) =>
      update({
        sessionUpdate: "tool_call",
        toolCallId,
        status: "in_progress",
        rawInput: { x: 1 },
        _meta: { demian: { parentToolCallId, agentPath: ["a"] } },
      });
    const deeper = told(
      { type: "agent.invocation.started", targetAgent: "tester", agentPath: ["reviewer", "tester"] },
      { toolCallId: "d2", parentToolCallId: "d2" },
    );
    play(state, [delegate, started, below("d2", "d1"), deeper, below("c2", "d2")]);
    expect(names(abandonTurn(state, "demian died"))).toEqual([
      "d2/tool_result",
      "d2/subagent_finished",
      "d1/tool_result",
      "d1/subagent_finished",
      "tool_result",
    ]);
  });

  test("of Claude's adapter gets its last message before the end of the call that started it", () => {
    const state = running({});
    const meta = { _meta: { claudeCode: { parentToolUseId: "d1" } } };
    const content = { type: "text", text: "found it" };
    const chunk = update({ sessionUpdate: "agent_message_chunk", content, ...meta });
    expect(names(play(state, [delegate, chunk, delegated])).slice(-3)).toEqual([
      "d1/delta",
      "d1/message",
      "tool_result",
    ]);
  });

  test("asks with its path, and after its own messages", () => {
    const state = running();
    const call = { toolCallId: "c1", name: "bash", kind: "execute", rawInput: { command: "make" }, ...CHILD };
    const params = { toolCall: call, options: [{ optionId: "y", kind: "allow_once" }] };
    const request: Frame = { kind: "request", id: 3, method: "session/request_permission", params };
    const reports = play(state, [delegate, started, says("May I?"), request]);
    expect(names(reports).slice(-3)).toEqual(["d1/message", "d1/tool_use", "ask"]);
    expect(reports.at(-1)).toMatchObject({
      ask: { path: ["reviewer"], request_type: "command", item_id: "c1" },
    });
    const other = play(running({}), [request]);
    expect(other.at(-1)).toMatchObject({ kind: "ask" });
    expect(other.at(-1)).not.toMatchObject({ ask: { path: expect.anything() } });
  });

  test("that was allowed for this session is asked again when its text changes", () => {
    const state = running();
    const start = (id: number, handoff: string): Frame => {
      const invocation = { provider: "big", model: "large", handoff };
      const rawInput = { agent: "reviewer", task: "look", invocation };
      const toolCall = { toolCallId: `d${id}`, name: "delegate_agent", kind: "think", title: "t", rawInput };
      const params = { toolCall, options: [{ optionId: "y", kind: "allow_once" }] };
      return { kind: "request", id, method: "session/request_permission", params };
    };
    const kinds = (frame: Frame) => translate(state, frame).map(({ kind }) => kind);
    expect(kinds(start(1, "one"))).toContain("ask");
    toReply(state, "1", { decision: "acceptForSession" });
    expect(kinds(start(2, "one"))).toContain("reply");
    expect(kinds(start(3, "two"))).toContain("ask");
  });

  test("is not reported a second time by the lines for other clients", () => {
    const state = running();
    const content = [{ type: "content", content: { type: "text", text: "reviewer: read_file" } }];
    const lines = update({
      sessionUpdate: "tool_call_update",
      toolCallId: "d1",
      status: "in_progress",
      content,
    });
    expect(names(play(state, [delegate, started, lines]))).toEqual(["tool_use", "d1/subagent_started"]);
    expect(names(play(state, [ended("completed"), delegated]))).toEqual([
      "d1/subagent_finished",
      "tool_result",
    ]);
  });

  test("is in the raw frames too, if a session wants them", () => {
    const reports = play(running(DEMIAN, { include_raw_events: true }), [delegate, started]);
    expect(eventsOf(reports).at(-1)).toMatchObject({ raw: { method: "_demian/event" } });
  });
});

describe("the cost of a demian turn", () => {
  test("is the turn's reported cost, sub-agents included, also right after a resume and when it failed", () => {
    const counts = { usage: { inputTokens: 17, outputTokens: 7 } };
    const state = running();
    state.costBefore = undefined;
    const money = update({
      sessionUpdate: "usage_update",
      used: 0,
      size: 0,
      cost: { amount: 5, currency: "USD" },
    });
    const [notice] = eventsOf(play(state, [money]));
    expect(notice).toMatchObject({ category: "context_usage", data: { session_cost: { amount: 5 } } });
    expect(notice).not.toMatchObject({ data: { context_window: 0 } });
    const [good] = eventsOf(play(state, [end({ ...counts, _meta: { demian: { costUsd: 0.5 } } })]));
    expect(good).toMatchObject({ usage: { input_tokens: 17, output_tokens: 7 }, cost_usd: 0.5 });
    beginTurn(state);
    const error = { code: -32603, message: "no", data: { kind: "server", ...counts, costUsd: 0.25 } };
    const [bad] = eventsOf(play(state, [{ kind: "answer", answer: { error } }]));
    expect(bad).toMatchObject({ subtype: "error", usage: { input_tokens: 17 }, cost_usd: 0.25 });
  });

  test("is computed from the total if another agent reports one", () => {
    const state = running({});
    const money = update({
      sessionUpdate: "usage_update",
      used: 1,
      size: 9,
      cost: { amount: 2, currency: "USD" },
    });
    const result = eventsOf(play(state, [money, end({ _meta: { demian: { costUsd: 99 } } })])).at(-1);
    expect(result).toMatchObject({ cost_usd: 2 });
  });
});

test("sub-agents never change the session's own state", () => {
  const text = fc.string({ minLength: 1, maxLength: 4 });
  const id = fc.constantFrom("a", "b");
  const status = fc.constantFrom("pending", "in_progress", "completed", "failed");
  const own = fc.oneof(
    fc.tuple(text, id).map(([words, message]) => main(words, message)),
    fc.tuple(id, status).map(([toolCallId, now]) =>
      update({
        sessionUpdate: "tool_call_update",
        toolCallId,
        status: now,
        rawInput: { x: 1 },
        rawOutput: "o",
      }),
    ),
  );
  const others = fc.oneof(
    fc.tuple(text, id).map(([words, message]) => says(words, `c-${message}`)),
    status.map((now) => childTool({ status: now, rawInput: { y: 1 }, rawOutput: "o" })),
    fc.constantFrom(started, ended("completed"), ended("failed", { reason: "r" })),
    fc.constant(told({ type: "turn.ended", outcome: "completed", ...about }, { parentToolCallId: "d1" })),
  );
  const shown = (frames: Frame[]) =>
    eventsOf(play(running(), [...frames, end()])).filter((event) => event.parent_tool_use_id === undefined);
  const isOwn = fc.oneof(
    own.map((frame) => ({ frame, isOwn: true })),
    others.map((frame) => ({ frame, isOwn: false })),
  );
  fc.assert(
    fc.property(fc.array(isOwn, { maxLength: 30 }), (steps) => {
      const all = steps.map(({ frame }) => frame);
      const mine = steps.flatMap((step) => (step.isOwn ? [step.frame] : []));
      expect(shown(all)).toEqual(shown(mine));
    }),
  );
});

describe("agent_mode", () => {
  test("is an option of demian only, and belongs to the session", async () => {
    const host = { env: {} };
    const demian = createAcpBackend({ name: "demian", command: "x", hasAgentModes: true }, host);
    const other = createAcpBackend({ name: "other", command: "x" }, host);
    expect(demian.checkOptions({ agent_mode: "multi-agent" })).toEqual({ agent_mode: "multi-agent" });
    expect(() => demian.checkOptions({ agent_mode: "swarm" })).toThrow(/\/options\/demian\/agent_mode/);
    expect(() => other.checkOptions({ agent_mode: "multi-agent" })).toThrow(/agent_mode/);
    const spec = { process: "shared" as const, isOurs: true, hasAgentModes: true };
    const fake = fakeAgent({}, { spec });
    await fake.start({ agent_mode: "multi-agent" });
    const opened = fake.heard().find(({ method }) => method === "session/new");
    expect(opened?.params?.["_meta"]).toMatchObject({ blemees: { agent_mode: "multi-agent" } });
  });
});
