// Runtime events as agent events: valid by the schema, nothing repeated and no texts joined.
import { describe, expect, test } from "vitest";
import { EventTranslator, toResultEvents } from "../../../../src/cli/demian/tui/translate.ts";
import { AgentEvent } from "../../../../src/protocol/events.ts";
import type { EventBody, InvocationFields, TurnEnd } from "../../../../src/runtime/events.ts";
import { viewOf } from "../../../client/view/view-inputs.ts";
import { findNoticeFault } from "../../../support/notice-fault.ts";

type Frame = Record<string, unknown>;

/** All frames of these events; each must be a valid event. */
function framesOf(...events: (EventBody & InvocationFields)[]): Frame[] {
  const frames = new EventTranslator();
  return events
    .flatMap((event) => frames.translate({ ...event, sessionId: "s", agent: "build", ts: 1 }))
    .map(checked);
}

function checked(event: AgentEvent): Frame {
  expect(AgentEvent.parse(event)).toEqual(event);
  if (event.type === "agent.notice") expect(findNoticeFault(event)).toBeUndefined();
  return event;
}

const REQUEST = {
  type: "model.request",
  turn: 1,
  provider: "p",
  model: "m",
  messages: 1,
  tools: 0,
  stream: true,
} as const;
const say = (text: string): EventBody => ({ type: "model.text.delta", text });
const whole = (text: string, final = true): EventBody => ({ type: "model.text", text, final });

describe("words", () => {
  test("chunks and the complete text of a message share an id, and the next message has another", () => {
    const frames = framesOf(REQUEST, say("a"), say("b"), whole("ab", false), REQUEST, whole("c"));
    expect(
      frames.map(({ type, item_id, message_id, phase }) => [type, item_id ?? message_id, phase]),
    ).toEqual([
      ["agent.delta", "msg_1", undefined],
      ["agent.delta", "msg_1", undefined],
      ["agent.message", "msg_1", undefined],
      ["agent.message", "msg_3", "final_answer"],
    ]);
  });

  test("an answer that begins again after a retry is a new message", () => {
    const retry = {
      type: "provider.retry",
      provider: "p",
      attempt: 1,
      maxAttempts: 3,
      delayMs: 10,
      reason: "cut off",
    } as EventBody;
    const frames = framesOf(REQUEST, say("a"), retry, say("a"), whole("a"));
    const ids = frames.flatMap(({ item_id, message_id }) => item_id ?? message_id ?? []);
    expect(ids).toEqual(["msg_1", "msg_2", "msg_2"]);
    expect(frames[1]).toMatchObject({ level: "warn", category: "model_retry" });
    expect(frames[1]?.["data"]).toMatchObject({ attempt: 1, max_attempts: 3, details: "cut off" });
  });

  test("an agent that repeats its last message as the final one is shown once", () => {
    expect(framesOf(REQUEST, say("a"), whole("a", false), whole("a")).map(({ type }) => type)).toEqual([
      "agent.delta",
      "agent.message",
    ]);
    expect(framesOf(REQUEST, whole("")).length).toBe(0);
  });
});

describe("tools", () => {
  const requested = (who: InvocationFields = {}) =>
    ({ type: "tool.requested", callId: "call_0", name: "bash", input: { command: "ls" }, ...who }) as const;
  const completed = (who: InvocationFields = {}) =>
    ({
      type: "tool.completed",
      callId: "call_0",
      name: "bash",
      ok: true,
      preview: "",
      content: "out",
      durationMs: 1,
      ...who,
    }) as const;

  test("of a sub-agent that uses the main agent's call ids belong to the call that started it", () => {
    const main = { invocationId: "main" };
    const child = {
      invocationId: "inv_1",
      parentInvocationId: "main",
      parentCallId: "call_0",
      agentPath: ["writer"],
    };
    const frames = framesOf(requested(main), requested(child), completed(child), completed(main));
    expect(frames.map((frame) => [frame["tool_use_id"], frame["parent_tool_use_id"]])).toEqual([
      ["call_0", undefined],
      ["call_0~2", "call_0"],
      ["call_0~2", "call_0"],
      ["call_0", undefined],
    ]);
  });

  test("that start without a request are published too, with their changes", () => {
    const changes = [{ path: "a", oldText: "1\n", newText: "2\n" }];
    const frames = framesOf({
      type: "tool.started",
      callId: "c",
      name: "edit_file",
      input: { path: "a" },
      title: "edit",
      changes,
    });
    expect(frames).toMatchObject([
      { type: "agent.tool_use", tool_use_id: "c" },
      {
        data: {
          tool_use_id: "c",
          input: { path: "a", changes: [{ kind: "update", diff: "@@ -1,1 +1,1 @@\n-1\n+2" }] },
        },
      },
    ]);
  });

  test("publish their output while they run", () => {
    const frames = framesOf(requested(), { type: "tool.output", callId: "call_0", text: "line\n" });
    expect(frames[1]).toMatchObject({
      category: "tool_output",
      data: { tool_use_id: "call_0", text: "line\n" },
    });
  });
});

describe("other events", () => {
  const denied = { type: "permission.denied", callId: "c", targetType: "tool", targetName: "bash" } as const;
  test.each<[EventBody, RegExp | undefined]>([
    [
      { type: "hook.fired", hook: "h", event: "PreToolUse", decision: "block", message: "no" },
      /^hook h blocked it: no$/,
    ],
    [{ type: "hook.fired", hook: "h", event: "PreToolUse", decision: "allow" }, undefined],
    [
      { type: "hook.failed", hook: "h", event: "Stop", message: "gone", blocked: true },
      /failed and blocked the action: gone/,
    ],
    [{ ...denied, by: "global_deny", reason: "never" }, /^denied \(global deny\): bash; never$/],
    [{ ...denied, by: "user" }, undefined],
    [
      { type: "session.context.split", executor: "claudecode", reason: "r", message: "begins anew" },
      /^CC begins anew$/,
    ],
    [{ type: "warning", message: "look" }, /^look$/],
    [
      {
        type: "context.compacted",
        beforeTokens: 9,
        afterTokens: 3,
        dropped: 2,
        kept: 1,
        summaryTokens: 1,
        manual: false,
      },
      /from about 9 to 3 tokens/,
    ],
  ])("%j", (event, words) => {
    const frames = framesOf(event).filter(({ category }) => category !== "context_usage");
    expect(frames).toHaveLength(words === undefined ? 0 : 1);
    if (words !== undefined) expect(frames[0]?.["text"]).toMatch(words);
  });
});

test("the list of steps is a plan, which the view keeps; a sub-agent's is not shown", () => {
  const steps = [{ text: "write", status: "in_progress" }] as const;
  const [frame, ...others] = framesOf(
    { type: "plan.updated", steps },
    { type: "plan.updated", steps, parentCallId: "call_1", agentPath: ["critic"] },
  );
  expect(frame).toMatchObject({
    category: "plan",
    data: { plan: [{ step: "write", status: "in_progress" }] },
  });
  expect(others).toEqual([]);
  expect(viewOf([frame as Frame & { type: string }]).plan).toEqual(steps);
});

describe("the end of a turn", () => {
  const report = { text: "", turns: 2, usage: { inputTokens: 1, outputTokens: 2, costUsd: 0.5 } };
  test.each<[TurnEnd, string, boolean]>([
    ["completed", "success", false],
    ["aborted", "interrupted", false],
    ["max_turns", "max_turns", false],
    ["failed", "error", true],
    ["blocked", "error", true],
    ["denied", "error", true],
    ["max_tokens", "success", false],
    ["content_filter", "success", false],
  ])("%s is %s", (outcome, subtype, hasError) => {
    const frames = toResultEvents({ ...report, outcome, message: "why" }, 10).map(checked);
    const result = frames.at(-1);
    expect(result).toMatchObject({ subtype, duration_ms: 10, num_turns: 2, cost_usd: 0.5 });
    expect(result?.["error"] !== undefined).toBe(hasError);
    const isCut = outcome === "max_tokens" || outcome === "content_filter";
    expect(frames).toHaveLength(isCut ? 2 : 1);
  });
});
