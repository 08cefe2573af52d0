// Runtime events as frames: each of the shape that docs/agent-events.md has, and nothing told twice or glued together.
import { describe, expect, test } from "vitest";
import { EventFrames, turnEnded, turnStarted } from "../../../../src/cli/demian/tui/event-frames.ts";
import type { WireFrame } from "../../../../src/client/frames.ts";
import { AgentEvent } from "../../../../src/protocol/events.ts";
import { noticeFault } from "../../../../src/protocol/notices.ts";
import type { EventBody, InvocationFields, TurnEnd } from "../../../../src/runtime/events.ts";

/** All frames of these events; each must be a valid event. */
function framesOf(...events: (EventBody & InvocationFields)[]): WireFrame[] {
  const frames = new EventFrames();
  return events
    .flatMap((event) => frames.translate({ ...event, sessionId: "s", agent: "build", ts: 1 }))
    .map(checked);
}

function checked(frame: WireFrame): WireFrame {
  const event = AgentEvent.parse(frame);
  expect(event).toEqual(frame);
  if (event.type === "agent.notice") expect(noticeFault(event)).toBeUndefined();
  return frame;
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
  test("pieces and the whole of a message have one name, and the next message another", () => {
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

  test("an answer that begins again after a retry is not glued to what came before", () => {
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

  test("an agent that tells its last message once more as the final one said it once", () => {
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

  test("of a sub-agent that names its calls as the main agent does belong to the call that started it", () => {
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

  test("that begin without having been requested are told all the same, with what they change", () => {
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

  test("tell what they print while they run", () => {
    const frames = framesOf(requested(), { type: "tool.output", callId: "call_0", text: "line\n" });
    expect(frames[1]).toMatchObject({
      category: "tool_output",
      data: { tool_use_id: "call_0", text: "line\n" },
    });
  });
});

describe("what else is told", () => {
  const denied = { type: "permission.denied", callId: "c", targetType: "tool", targetName: "bash" } as const;
  test.each<[EventBody, RegExp | undefined]>([
    [
      { type: "hook.fired", hook: "h", event: "PreToolUse", decision: "block", message: "no" },
      /^hook h blocks: no$/,
    ],
    [{ type: "hook.fired", hook: "h", event: "PreToolUse", decision: "allow" }, undefined],
    [
      { type: "hook.failed", hook: "h", event: "Stop", message: "gone", blocked: true },
      /failed and so blocked: gone/,
    ],
    [{ ...denied, by: "global_deny", reason: "never" }, /^not allowed \(global deny\): bash; never$/],
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
      /9 tokens became 3/,
    ],
  ])("%j", (event, words) => {
    const frames = framesOf(event);
    expect(frames).toHaveLength(words === undefined ? 0 : 1);
    if (words !== undefined) expect(frames[0]?.["text"]).toMatch(words);
  });
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
    const frames = turnEnded({ ...report, outcome, message: "why" }, "turn_1", 10).map(checked);
    const result = frames.at(-1);
    expect(result).toMatchObject({ subtype, duration_ms: 10, num_turns: 2, cost_usd: 0.5 });
    expect(result?.["error"] !== undefined).toBe(hasError);
    const isCut = outcome === "max_tokens" || outcome === "content_filter";
    expect(frames).toHaveLength(isCut ? 2 : 1);
  });

  test("its beginning is a notice as the daemon's", () => {
    expect(checked(turnStarted("turn_1", 5))).toMatchObject({
      category: "task_started",
      data: { turn_id: "turn_1", started_at_ms: 5 },
    });
  });
});
