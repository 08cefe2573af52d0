// Sub-agents that no honest demian would report: from other agents, for calls that do not exist, in cycles, or without
// an end; and the agent's own rules, which only the user may override.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { toReply } from "../../../src/backends/acp/requests.ts";
import type { AcpReport } from "../../../src/backends/acp/state.ts";
import { isToolRunning } from "../../../src/backends/acp/tools.ts";
import {
  abandonTurn,
  beginTurn,
  cancelTurn,
  type Frame,
  translate,
} from "../../../src/backends/acp/translate.ts";
import type { JsonObject } from "../../../src/base/json.ts";
import { AgentEvent } from "../../../src/protocol/events.ts";
import { DEMIAN, eventsOf, play, running, told, update } from "./frames.ts";

const call = (toolCallId: string, more: JsonObject = {}) =>
  update({ sessionUpdate: "tool_call", toolCallId, status: "in_progress", rawInput: { x: 1 }, ...more });
const done = (toolCallId: string) =>
  update({ sessionUpdate: "tool_call_update", toolCallId, status: "completed", rawOutput: "o" });
const starts = (toolCallId: string, more: JsonObject = {}) =>
  told(
    { type: "agent.invocation.started", targetAgent: "reviewer", agentPath: ["reviewer"], ...more },
    { toolCallId, parentToolCallId: toolCallId },
  );
const ends = (toolCallId: string) =>
  told({ type: "agent.invocation.completed" }, { toolCallId, parentToolCallId: toolCallId });
const below = (parentToolCallId: string) => ({ _meta: { demian: { parentToolCallId } } });
const end: Frame = { kind: "answer", answer: { result: { stopReason: "end_turn" } } };

const names = (reports: AcpReport[]): string[] =>
  eventsOf(reports).map((event) =>
    event.type === "agent.notice" ? event.category : event.type.slice("agent.".length),
  );

describe("a sub-agent", () => {
  test("is ignored if an agent other than demian reports it: nothing uses demian's notices", () => {
    const says = told({ type: "model.text.delta", text: "hi" }, { parentToolCallId: "d1", messageId: "m" });
    const reports = play(running({}), [call("d1"), starts("d1"), says, ends("d1"), done("d1")]);
    expect(names(reports)).toEqual([
      "tool_use",
      "acp_notif_demian_event",
      "acp_notif_demian_event",
      "acp_notif_demian_event",
      "tool_result",
    ]);
  });

  test("starts once, with an open call", () => {
    const none = running();
    expect(names(play(none, [starts("d1")]))).toEqual(["demian_agent_invocation_started"]);
    expect(none.subAgents.size).toBe(0);
    const twice = play(running(), [call("d1"), starts("d1"), starts("d1"), ends("d1"), ends("d1")]);
    expect(names(twice).filter((name) => name.startsWith("subagent_"))).toEqual([
      "subagent_started",
      "subagent_finished",
    ]);
    const idle = running();
    play(idle, [call("d1"), end]);
    expect(names(play(idle, [starts("d1")]))).toEqual(["demian_agent_invocation_started"]);
  });

  test("whose end was not reported ends before the call that started it, and not with the turn", () => {
    const reports = play(running(), [call("d1"), starts("d1"), done("d1"), call("b"), done("b"), end]);
    expect(names(reports).slice(0, 4)).toEqual([
      "tool_use",
      "subagent_started",
      "subagent_finished",
      "tool_result",
    ]);
    expect(eventsOf(reports)[2]).toMatchObject({ data: { subtype: "interrupted" } });
  });

  test("that has ended is not reported again by late lines for other clients", () => {
    const content = [{ type: "content", content: { type: "text", text: "reviewer: bash" } }];
    const lines = update({ sessionUpdate: "tool_call_update", toolCallId: "d1", content });
    const reports = play(running(), [call("d1"), starts("d1"), ends("d1"), lines, done("d1")]);
    expect(names(reports)).not.toContain("tool_progress");
  });

  test("has a path of bounded length, in the notice and in the ledger", () => {
    const state = running();
    const agentPath = Array.from({ length: 5000 }, () => "x".repeat(5000));
    const toolCall = { toolCallId: "b", rawInput: { command: "ls" }, _meta: { demian: { agentPath } } };
    const params = { toolCall, options: [{ optionId: "y", kind: "allow_once" }] };
    const reports = play(state, [
      call("d1"),
      starts("d1", { agentPath, targetAgent: "x".repeat(1e6) }),
      { kind: "request", id: 1, method: "session/request_permission", params },
    ]);
    const asked = reports.find((report) => report.kind === "ask");
    expect(asked?.ask.path).toHaveLength(32);
    expect(JSON.stringify(asked?.ask.path).length).toBeLessThan(10_000);
    expect(JSON.stringify(eventsOf(reports)[1]).length).toBeLessThan(20_000);
  });
});

describe("silence", () => {
  test("does not excuse silence, but the command that it runs does", () => {
    const state = running();
    play(state, [call("d1")]);
    expect(isToolRunning(state)).toBe(true);
    play(state, [starts("d1")]);
    expect(isToolRunning(state)).toBe(false);
    play(state, [call("b", { kind: "execute", ...below("d1") })]);
    expect(isToolRunning(state)).toBe(true);
    play(state, [done("b")]);
    expect(isToolRunning(state)).toBe(false);
    play(state, [ends("d1")]);
    expect(isToolRunning(state)).toBe(true);
  });
});

describe("what an agent's own rules deny", () => {
  const asks = (id: number, more: JsonObject): Frame => {
    const rawInput = { command: "make" };
    const toolCall = { toolCallId: `b${id}`, name: "bash", kind: "execute", rawInput, ...more };
    const options = [
      { optionId: "y", kind: "allow_once" },
      { optionId: "n", kind: "reject_once" },
    ];
    return { kind: "request", id, method: "session/request_permission", params: { toolCall, options } };
  };
  const beyond = { _meta: { demian: { widens: true, agentPath: ["reviewer"] } } };

  test("is refused if approvals are off, and the agent gets the reason", () => {
    const state = running(DEMIAN, { approvals: false });
    expect(translate(state, asks(1, {})).at(-1)).toMatchObject({
      kind: "reply",
      result: { outcome: { optionId: "y" } },
    });
    const reports = translate(state, asks(2, beyond));
    expect(names(reports)).toContain("permission_denied");
    expect(reports.at(-1)).toMatchObject({
      kind: "reply",
      result: {
        outcome: { outcome: "selected", optionId: "n" },
        _meta: { blemees: { reason: expect.stringContaining("approvals are off") } },
      },
    });
  });

  test("is asked even if the same was allowed for the session within the rules of another agent", () => {
    const state = running();
    const kinds = (frame: Frame) => translate(state, frame).map(({ kind }) => kind);
    expect(kinds(asks(1, {}))).toContain("ask");
    toReply(state, "1", { decision: "acceptForSession" });
    expect(kinds(asks(2, { _meta: { demian: { agentPath: ["reviewer"] } } }))).toContain("reply");
    expect(kinds(asks(3, beyond))).toContain("ask");
    toReply(state, "3", { decision: "acceptForSession" });
    expect(kinds(asks(4, beyond))).toContain("reply");
  });
});

test("for any input, every event is well-formed, every start and call has one end, in this order, and nothing stays open", () => {
  const id = fc.constantFrom("a", "b", "c", "d1", "__proto__");
  const odd = fc.oneof(fc.constant("\u001b[31mred\u001b[0m"), fc.string(), fc.jsonValue(), fc.constant([]));
  const meta = fc.record({ parentToolCallId: fc.oneof(id, odd), agentPath: odd, widens: odd });
  const type = fc.constantFrom(
    "agent.invocation.started",
    "agent.invocation.completed",
    "agent.invocation.failed",
    "model.text",
    "model.text.delta",
    "model.reasoning.delta",
    "turn.ended",
    "\u001b]0;x\u0007",
  );
  const kind = fc.constantFrom("tool_call", "tool_call_update", "agent_message_chunk", "usage_update");
  const status = fc.constantFrom("pending", "in_progress", "completed", "failed", 7);
  const frame = fc.oneof(
    fc
      .tuple(
        fc.record({ type, targetAgent: odd, agentPath: odd, text: odd, usage: odd, reason: odd }),
        id,
        id,
      )
      .map(([event, toolCallId, parentToolCallId]) => told(event, { toolCallId, parentToolCallId })),
    odd.map((params): Frame => told(params as JsonObject, { toolCallId: params, parentToolCallId: params })),
    fc
      .record({ kind, toolCallId: id, status, demian: fc.oneof(meta, odd), content: odd, rawInput: odd })
      .map(({ kind: sessionUpdate, demian, ...body }) =>
        update({ sessionUpdate, ...body, _meta: { demian, claudeCode: demian } } as JsonObject),
      ),
    fc.record({ toolCallId: id, rawInput: odd, demian: fc.oneof(meta, odd) }).map(
      ({ demian, ...body }): Frame => ({
        kind: "request",
        id: 1,
        method: "session/request_permission",
        params: { toolCall: { ...body, _meta: { demian } }, options: [] },
      }),
    ),
    fc.constantFrom<Frame | "cancel" | "next">("cancel", "next"),
  );
  fc.assert(
    fc.property(
      fc.constantFrom<JsonObject>(DEMIAN, {}),
      fc.array(frame, { maxLength: 40 }),
      fc.constantFrom("answer", "death"),
      (agent, frames, how) => {
        const state = running(agent);
        const reports = frames.flatMap((step): AcpReport[] => {
          if (step === "cancel") return cancelTurn(state);
          return step === "next" ? [...translate(state, end), ...beginTurn(state)] : translate(state, step);
        });
        reports.push(...(how === "answer" ? translate(state, end) : abandonTurn(state, "it died")));
        const open = new Map<string, boolean>();
        for (const event of eventsOf(reports)) {
          expect(AgentEvent.safeParse(event).error).toBeUndefined();
          if (event.type === "agent.tool_use") {
            expect(open.has(event.tool_use_id)).toBe(false);
            open.set(event.tool_use_id, false);
          }
          if (event.type === "agent.tool_result") {
            expect(open.get(event.tool_use_id)).toBe(false);
            open.delete(event.tool_use_id);
          }
          if (event.type !== "agent.notice") continue;
          const parent = event.parent_tool_use_id ?? "";
          if (agent !== DEMIAN) expect(event.category).not.toMatch(/^(subagent|demian)_/);
          if (event.category === "subagent_started") {
            expect(open.get(parent) ?? false).toBe(false);
            open.set(parent, true);
          }
          if (event.category === "subagent_finished") {
            expect(open.get(parent)).toBe(true);
            open.set(parent, false);
          }
        }
        expect([...open]).toEqual([]);
        expect([state.tools.size, state.subAgents.size, state.texts.size]).toEqual([0, 0, 0]);
        expect(state.asks.size).toBe(0);
      },
    ),
    { numRuns: 500 },
  );
});
