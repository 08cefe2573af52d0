// What the real claude printed (test/fixtures/claude) as events and as a report.
import { describe, expect, test } from "vitest";
import { Translation } from "../../../../src/runtime/external/claude-code/translate.ts";
import { tell, trace } from "./traces.ts";

const ENDED = { aborted: false, stopped: false };

describe("an answer", () => {
  test("is streamed as text and as reasoning, and reported whole", () => {
    const { events, translation } = tell(trace("06-partial-thinking"));
    const text = (type: string) =>
      events.flatMap((event) => (event.type === type && "text" in event ? [event.text] : [])).join("");
    const report = translation.report(ENDED);
    expect(report).toMatchObject({ outcome: "completed", turns: 1 });
    expect(report.text).not.toBe("");
    expect(text("model.text.delta")).toBe(report.text);
    expect(text("model.reasoning.delta")).not.toBe("");
  });

  test("counts all input, cached or not, and what the vendor says it cost", () => {
    const { usage } = tell(trace("01-multiturn")).translation.report(ENDED);
    expect(usage).toMatchObject({
      inputTokens: 18,
      outputTokens: 20,
      cacheReadTokens: 5,
      cacheWriteTokens: 3,
    });
    expect(usage.costUsd).toBeGreaterThan(0);
  });

  test("of which only what was streamed is known counts as streamed", () => {
    const { translation } = tell(trace("06-partial-thinking").filter(({ type }) => type !== "result"));
    expect(translation.report({ ...ENDED, aborted: true }).usage).toMatchObject({
      inputTokens: 18,
      outputTokens: 20,
    });
  });

  test("has the session to continue", () => {
    const messages = trace("01-multiturn");
    expect(tell(messages).translation.sessionId).toBe(messages.at(-1)?.["session_id"]);
  });
});

describe("tools", () => {
  test("are reported with their executor, from request to result", () => {
    const { events, types } = tell(trace("07-tool-bash-allowed"));
    expect(types.filter((type) => type.startsWith("tool."))).toEqual([
      "tool.requested",
      "tool.started",
      "tool.completed",
    ]);
    for (const event of events.filter(({ type }) => type.startsWith("tool."))) {
      expect(event).toMatchObject({ name: "Bash", executor: "claudecode", qualifiedName: "claudecode.Bash" });
    }
  });

  test("come after what was said before them, which is not the answer", () => {
    const { events } = tell(trace("07-tool-bash-allowed"));
    const said = events.findIndex(({ type }) => type === "model.text");
    expect(events[said]).toMatchObject({ final: false });
    expect(events[said + 1]).toMatchObject({ type: "tool.requested" });
  });

  test("that Claude Code refuses on its own are denied, not failed", () => {
    const { translation } = tell([]);
    const call = { callId: "toolu_1", tool: "Read", input: {} };
    expect(translation.request(call)).toHaveLength(1);
    const content = [
      {
        type: "tool_result",
        tool_use_id: "toolu_1",
        is_error: true,
        content:
          "<tool_use_error>File is in a directory that is denied by your permission settings.</tool_use_error>",
      },
    ];
    expect(translation.take({ type: "user", message: { content } })).toEqual([
      expect.objectContaining({ type: "tool.failed", reason: "denied" }),
    ]);
  });

  test("are reported once, whether the message or the request comes first", () => {
    const messages = trace("07-tool-bash-allowed");
    const translation = new Translation({ provider: "claudecode" });
    const wish = messages
      .flatMap(({ message }) => (message as { content?: { type: string; id: string }[] })?.content ?? [])
      .find(({ type }) => type === "tool_use");
    const first = translation.request({ callId: wish?.id ?? "", tool: "Bash", input: {} });
    const all = [...first, ...messages.flatMap((message) => translation.take(message))];
    expect(all.filter(({ type }) => type === "tool.requested")).toHaveLength(1);
  });

  test("without a result end with the turn", () => {
    const messages = trace("07-tool-bash-allowed").filter(({ type }) => type !== "user");
    const { translation } = tell(messages);
    expect(translation.finish({ ...ENDED, aborted: true })).toEqual([
      expect.objectContaining({ type: "tool.failed", reason: "aborted" }),
    ]);
    expect(translation.finish({ ...ENDED, aborted: true })).toEqual([]);
  });

  test("and text of a sub-agent are not mixed into the answer", () => {
    const inner = { parent_tool_use_id: "toolu_1" };
    const delta = { type: "content_block_delta", delta: { type: "text_delta", text: "inner" } };
    const content = [{ type: "text", text: "inner" }];
    const { events, translation } = tell([
      { type: "stream_event", event: delta, ...inner },
      { type: "assistant", message: { id: "m", content }, ...inner },
    ]);
    expect(events).toEqual([]);
    expect(translation.report({ ...ENDED, aborted: true })).toMatchObject({ text: "", turns: 0 });
  });

  test("of a sub-agent are reported, and its text is not the answer", () => {
    const { translation, types } = tell(trace("47-subagent"));
    expect(types.filter((type) => type === "tool.requested")).toHaveLength(1);
    expect(translation.report(ENDED)).toMatchObject({ outcome: "completed", turns: 2 });
    expect(translation.findAgentName("a2e311c7c61662c88")).toBe("general-purpose");
  });
});

describe("an end", () => {
  test.each([
    ["20-err-400", "bad_request", 400],
    ["20-err-401-retries1", "auth", 401],
    ["20-err-403", "auth", 403],
    ["20-err-404", "not_found", 404],
    ["20-err-429", "rate_limit", 429],
    ["20-err-500", "server", 500],
    ["37-no-auth", "auth", undefined],
    ["38-connection-refused", "network", undefined],
  ])("%s is a failure of the kind %s", (name, kind, status) => {
    const report = tell(trace(name)).translation.report(ENDED);
    expect(report).toMatchObject({ outcome: "failed", text: "", failure: { kind } });
    expect(report.failure?.status).toBe(status);
    expect(report.message).toBe(report.failure?.message);
  });

  test("20-err-529 is a failure of an overloaded vendor", () => {
    expect(tell(trace("20-err-529")).translation.report(ENDED).failure?.kind).toBe("overloaded");
  });

  test("for want of a login says what to do", () => {
    const { message } = tell(trace("37-no-auth")).translation.report(ENDED);
    expect(message).toMatch(/not logged in.*`\/login`.*CLAUDE_CODE_OAUTH_TOKEN/);
  });

  test("by refusal is the filter's", () => {
    expect(tell(trace("20-err-refusal")).translation.report(ENDED)).toMatchObject({
      outcome: "content_filter",
      text: "",
    });
  });

  test("by an unknown session is known as such", () => {
    expect(tell(trace("05-resume-unknown")).translation.isResumeInvalid).toBe(true);
    expect(tell(trace("01-multiturn")).translation.isResumeInvalid).toBe(false);
  });

  test("by interruption keeps what was said", () => {
    const report = tell(trace("11-control-interrupt-stream")).translation.report({ ...ENDED, aborted: true });
    expect(report).toMatchObject({ outcome: "aborted" });
    expect(report.text).toMatch(/^tick0/);
  });

  test("at the turn limit says how to continue", () => {
    const { translation } = tell([{ type: "result", subtype: "error_max_turns", is_error: true }]);
    const report = translation.report(ENDED);
    expect(report.outcome).toBe("max_turns");
    expect(report.message).toMatch(/raise maxTurns/);
  });

  test("with a plan is the plan, whatever Claude Code makes of it", () => {
    const { translation, types } = tell(trace("15-plan-mode-exit"), ["ExitPlanMode"]);
    expect(types.filter((type) => type.startsWith("tool."))).toEqual([]);
    expect(translation.report({ ...ENDED, plan: "1. do it" })).toMatchObject({
      outcome: "completed",
      text: "1. do it",
      plan: "1. do it",
    });
  });

  test("without a result is a failure, with the reason where there is one", () => {
    const { translation } = tell([]);
    expect(translation.report(ENDED).failure?.message).toMatch(/without a result/);
    expect(translation.report({ ...ENDED, fault: "it died" }).failure?.message).toBe("it died");
  });
});

describe("on the way", () => {
  test("retries are reported, and a login that is refused twice is hopeless", () => {
    const { events, translation } = tell(trace("20-err-401"));
    expect(events.find(({ type }) => type === "provider.retry")).toMatchObject({
      provider: "claudecode",
      attempt: 1,
      reason: "authentication failed",
      status: 401,
    });
    expect(translation.isHopeless).toBe(true);
    const cut = tell(trace("20-err-401").filter(({ type }) => type !== "result")).translation;
    expect(cut.report({ ...ENDED, fault: "cut" })).toMatchObject({
      outcome: "failed",
      failure: { kind: "auth", status: 401, message: expect.stringMatching(/`\/login`/) },
    });
    expect(tell(trace("20-err-500")).translation.isHopeless).toBe(false);
  });

  test("a compacted history is reported", () => {
    const boundary = { type: "system", subtype: "compact_boundary", compact_metadata: { pre_tokens: 38 } };
    expect(tell([boundary]).events).toEqual([
      { type: "warning", message: expect.stringMatching(/38 tokens/) },
    ]);
  });

  test("a plan limit is reported only if nearly reached", () => {
    const event = (status: string) => ({
      type: "rate_limit_event",
      rate_limit_info: { status, utilization: 0.91, resetsAt: 1_800_000_000 },
    });
    expect(tell([event("allowed")]).events).toEqual([]);
    expect(tell([event("allowed_warning")]).events).toEqual([
      { type: "warning", message: expect.stringMatching(/91 %.*2027/) },
    ]);
  });

  test("unknown messages are skipped", () => {
    const odd = [
      { type: "new_thing" },
      { type: "assistant", message: null },
      { type: "user", message: { content: [null, 3] } },
      { type: "stream_event", event: "?" },
      { type: "assistant", message: { content: [{ type: "tool_use" }, null] } },
    ];
    expect(tell(odd).events).toEqual([]);
  });
});
