// The rules of the translation that a trace alone does not show, and that it survives anything.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ClaudeOptions } from "../../../src/backends/claude/options.ts";
import { type ClaudeReport, createState } from "../../../src/backends/claude/state.ts";
import { translate } from "../../../src/backends/claude/translate.ts";
import { noteSent } from "../../../src/backends/claude/turns.ts";
import type { JsonObject } from "../../../src/base/json.ts";
import { AgentEvent } from "../../../src/protocol/events.ts";
import { readTraces, stateFor } from "./traces.ts";

const INIT = { type: "system", subtype: "init", session_id: "s", cwd: "/w", model: "m", tools: ["Bash", 7] };
const IDLE = { type: "system", subtype: "session_state_changed", state: "idle" };
const RUNNING = { ...IDLE, state: "running" };
const RESULT = { type: "result", subtype: "success", is_error: false, result: "ok" };
const AGENTS_RESULT = { ...RESULT, origin: { kind: "task-notification" } };
const TOOL_RESULT = {
  type: "user",
  message: { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: "x" }] },
};

/** Frames, and "send" where a user message is written. */
function play(steps: Array<JsonObject | "send">, options: ClaudeOptions = {}): string[] {
  const state = createState({ session_id: "s", options, projects: "/h/.claude/projects" });
  return steps.flatMap((step) => {
    if (step !== "send") return translate(state, step).map(nameOf);
    noteSent(state);
    return [];
  });
}

function nameOf(report: ClaudeReport): string {
  return report.kind === "event" ? report.event.type.replace("agent.", "") : report.kind;
}

function eventsIn(report: ClaudeReport): AgentEvent[] {
  return report.kind === "event" ? [report.event] : [];
}

function isResult({ type }: AgentEvent): boolean {
  return type === "agent.result";
}

function events(frame: JsonObject, options: ClaudeOptions = {}): AgentEvent[] {
  const state = createState({ session_id: "s", options, projects: "/h/.claude/projects" });
  noteSent(state);
  return translate(state, frame).flatMap(eventsIn);
}

describe("turns", () => {
  test("a turn whose result could not be read ends when claude is idle", () => {
    expect(play(["send", RUNNING, INIT, TOOL_RESULT, IDLE])).toEqual([
      "system_init",
      "tool_result",
      "result",
    ]);
  });

  test("the idle of the turn before does not end a turn that has not begun", () => {
    expect(play(["send", INIT, RESULT, "send", IDLE, RUNNING, INIT, RESULT, IDLE])).toEqual([
      "system_init",
      "result",
      "result",
    ]);
  });

  test("init starts a turn only when none runs", () => {
    expect(play(["send", INIT, RESULT, IDLE])).toEqual(["system_init", "result"]);
    expect(play(["send", INIT, RESULT, IDLE, RUNNING, INIT, AGENTS_RESULT, IDLE])).toEqual([
      ...["system_init", "result"],
      ...["turn_started", "result"],
    ]);
  });

  test("an init before the first message begins no turn: that is how wrappers and stubs start", () => {
    expect(play([INIT, "send", RESULT])).toEqual(["system_init", "result"]);
    expect(play([INIT, "send", RUNNING, INIT, RESULT, IDLE])).toEqual(["system_init", "result"]);
    // Its state is not that of a turn either: an idle before the first sign of one means nothing.
    expect(play([INIT, "send", IDLE, RUNNING, RESULT])).toEqual(["system_init", "result"]);
  });

  test("a message folded into claude's own turn gets that result when claude falls idle", () => {
    const steps = [IDLE, "send" as const, INIT, TOOL_RESULT, AGENTS_RESULT];
    expect(play(steps)).toEqual(["system_init", "tool_result"]);
    expect(play([...steps, IDLE])).toEqual(["system_init", "tool_result", "result"]);
  });

  test("a message that waits for the end of claude's own turn gets its own result, not that turn's", () => {
    expect(play([IDLE, "send", INIT, AGENTS_RESULT, INIT, RESULT, IDLE])).toEqual([
      ...["system_init", "notice"],
      "result",
    ]);
  });

  test("no tool ended since the message was sent: it cannot have been folded, so its turn is still to come", () => {
    expect(play([IDLE, "send", INIT, AGENTS_RESULT, IDLE, RUNNING, INIT, RESULT, IDLE])).toEqual([
      ...["system_init", "notice"],
      "result",
    ]);
  });

  test("claude's own turn ahead of a message counts in the usage and the time of the message's result", () => {
    const spent = { duration_ms: 20, num_turns: 1, usage: { input_tokens: 5, output_tokens: 2 } };
    const state = createState({ session_id: "s", options: {}, projects: "/p" });
    const frames = [IDLE, INIT, { ...AGENTS_RESULT, ...spent }, INIT, { ...RESULT, ...spent }];
    noteSent(state);
    const results = frames
      .flatMap((frame) => translate(state, frame))
      .flatMap(eventsIn)
      .filter(isResult);
    expect(results).toMatchObject([
      { duration_ms: 40, num_turns: 2, usage: { input_tokens: 10, output_tokens: 4 } },
    ]);
    // Once only.
    noteSent(state);
    const next = [INIT, { ...RESULT, ...spent }].flatMap((frame) => translate(state, frame));
    expect(next.flatMap(eventsIn).filter(isResult)).toMatchObject([spent]);
  });

  test("claude's own turn that was interrupted or failed ends the turn; the message's begins", () => {
    for (const failed of [{ terminal_reason: "aborted_streaming" }, { is_error: true }])
      expect(play([IDLE, "send", INIT, { ...AGENTS_RESULT, ...failed }, INIT, RESULT, IDLE])).toEqual([
        ...["system_init", "result"],
        ...["turn_started", "result"],
      ]);
  });

  test("an idle that ends work from before the message does not end the message's turn", () => {
    const first = ["send" as const, RUNNING, INIT, RESULT, IDLE];
    expect(play([...first, RUNNING, "send", IDLE, RUNNING, INIT, RESULT, IDLE])).toEqual([
      ...["system_init", "result"],
      "result",
    ]);
  });

  test("without state events nothing is held: no later frame would release it", () => {
    expect(play(["send", INIT, AGENTS_RESULT])).toEqual(["system_init", "result"]);
  });

  test("the end of a sub-agent's tool is no moment to fold a message in", () => {
    const sub = { ...TOOL_RESULT, parent_tool_use_id: "toolu_1" };
    const names = play([IDLE, "send", INIT, sub, AGENTS_RESULT, IDLE]);
    expect(names.slice(-2)).toEqual(["tool_result", "notice"]);
  });
});

describe("frames", () => {
  test("init is passed on again only when something in it changed", () => {
    const changed = { ...INIT, permissionMode: "plan" };
    expect(play(["send", INIT, RESULT, "send", INIT, RESULT, "send", changed])).toEqual([
      ...["system_init", "result"],
      "result",
      "system_init",
    ]);
  });

  test("capabilities include mode, effort and the path of the transcript", () => {
    expect(events({ ...INIT, permissionMode: "plan" }, { effort: "low" })).toMatchObject([
      {
        tools: ["Bash"],
        capabilities: {
          permission_mode: "plan",
          reasoning_effort: "low",
          rollout_path: "/h/.claude/projects/-w/s.jsonl",
        },
      },
    ]);
  });

  test("what init omits is taken from the options", () => {
    const { cwd: _cwd, model: _model, ...init } = INIT;
    const options: ClaudeOptions = { permission_mode: "plan", model: "sonnet", cwd: "/w", effort: "low" };
    expect(events(init, options)).toMatchObject([
      {
        model: "sonnet",
        cwd: "/w",
        capabilities: { permission_mode: "plan", rollout_path: "/h/.claude/projects/-w/s.jsonl" },
      },
    ]);
    expect(events({ ...INIT, permissionMode: "default" }, options)).toMatchObject([
      { model: "m", capabilities: { permission_mode: "default" } },
    ]);
  });

  test("a tool result says who let the tool run, where claude says it", () => {
    const meta = (id: unknown, permission_decision: unknown) => ({ id, permission_decision });
    const decided = { decision: "accept", source: "config", reason_type: "mode" };
    expect(events({ ...TOOL_RESULT, tool_result_meta: [meta("t", decided)] })).toMatchObject([
      { permission: { decision: "accept", source: "config", reason: "mode" } },
    ]);
    for (const odd of [
      undefined,
      7,
      [7],
      [meta("other", decided)],
      [meta("t", { source: "x" })],
      [meta(7, {})],
    ]) {
      expect(events({ ...TOOL_RESULT, tool_result_meta: odd })[0]).not.toHaveProperty("permission");
    }
  });

  test("a tool call is announced once, with partial messages when its block begins", () => {
    const block = { type: "tool_use", id: "t1", name: "Bash", input: { command: "ls" } };
    const start = {
      type: "stream_event",
      event: { type: "content_block_start", index: 1, content_block: block },
    };
    const message = { type: "assistant", message: { id: "m1", content: [block] } };
    expect(play(["send", start, message, message])).toEqual(["tool_use", "message", "message"]);
    expect(play(["send", message])).toEqual(["message", "tool_use"]);
  });

  test("what a sub-agent does carries the call that started it", () => {
    const frame = { type: "assistant", parent_tool_use_id: "p", message: { content: "hi" } };
    expect(events(frame)).toMatchObject([
      { parent_tool_use_id: "p", content: [{ type: "text", text: "hi" }] },
    ]);
    expect(events({ ...frame, agent_id: "a1" })).toMatchObject([{ parent_tool_use_id: "p", agent_id: "a1" }]);
  });

  test("user text is echoed only on request, tool results always", () => {
    const text = { type: "text", text: "[Request interrupted by user]" };
    const frame = { type: "user", message: { content: [...TOOL_RESULT.message.content, text] } };
    expect(events(frame).map((event) => event.type)).toEqual(["agent.tool_result"]);
    expect(events(frame, { user_echo: true }).map((event) => event.type)).toEqual([
      "agent.tool_result",
      "agent.user_echo",
    ]);
  });

  test("rate limits: our names for what is common, the rest as the vendor has it", () => {
    const frame = {
      type: "rate_limit_event",
      rate_limit_info: { status: "allowed", resetsAt: 5, x: 1 },
      uuid: "u",
    };
    expect(events(frame)).toMatchObject([
      {
        category: "rate_limits",
        data: { limit: { resets_at_ms: 5000, status: "allowed" }, vendor: { x: 1, uuid: "u" } },
      },
    ]);
    expect(events({ type: "rate_limit_event" })[0]).not.toHaveProperty("data");
  });

  test("raw is on every frame of an event when asked for", () => {
    const block = { type: "tool_use", id: "t1", name: "Bash", input: {} };
    const frame = { type: "assistant", message: { content: [block] } };
    expect(events(frame, { include_raw_events: true }).map((event) => event.raw)).toEqual([frame, frame]);
    expect(events(frame, { native_events: true }).map((event) => event.raw)).toEqual([frame, null]);
    expect(events(frame).some((event) => "raw" in event)).toBe(false);
  });
});

describe("results", () => {
  test.each([
    [{ ...RESULT }, { subtype: "success" }],
    [{ ...RESULT, terminal_reason: "aborted_streaming" }, { subtype: "interrupted" }],
    [
      { ...RESULT, subtype: "error_during_execution", terminal_reason: "aborted_tools" },
      { subtype: "interrupted" },
    ],
    [{ ...RESULT, subtype: "error_max_turns", is_error: true }, { subtype: "max_turns" }],
    [{ ...RESULT, subtype: "error_max_budget_usd" }, { subtype: "max_budget" }],
    [
      { ...RESULT, is_error: true, api_error_status: 400, result: "API Error: 400" },
      { subtype: "error", error: { code: "bad_request", message: "API Error: 400", api_error_status: 400 } },
    ],
    [
      { type: "result", subtype: "error_during_execution", errors: ["a", 7, "b"] },
      {
        subtype: "error",
        error: { code: "agent_error", native_code: "error_during_execution", message: "a; b" },
      },
    ],
    [
      { ...RESULT, usage: { input_tokens: 1, output_tokens: 1.5, tier: "x", more: 2 } },
      { usage: { input_tokens: 1, more: 2 } },
    ],
  ])("%j", (frame, expected) => {
    expect(events(frame)).toMatchObject([expected]);
  });

  test("the cost of a turn is what the process spent since the last one", () => {
    const state = createState({ session_id: "s", options: {}, projects: "/p" });
    const costs = [0.00057125, 0.0011425, 0.0011425].map((total) => {
      const [report] = translate(state, { ...RESULT, total_cost_usd: total });
      return report?.kind === "event" && report.event.type === "agent.result"
        ? report.event.cost_usd
        : undefined;
    });
    expect(costs).toEqual([0.00057125, 0.00057125, 0]);
  });
});

describe("whatever claude prints", () => {
  const traces = readTraces();
  const lines = traces.flatMap((trace) =>
    trace.steps.filter(({ dir }) => dir === "in").map(({ msg }) => msg),
  );
  const options = fc.record(
    { include_raw_events: fc.boolean(), native_events: fc.boolean(), user_echo: fc.boolean() },
    { requiredKeys: [] },
  );
  const type = fc.constantFrom(
    "system",
    "assistant",
    "user",
    "result",
    "stream_event",
    "rate_limit_event",
    "odd",
  );
  const anything = fc.record({
    type,
    subtype: fc.anything(),
    message: fc.jsonValue(),
    event: fc.jsonValue(),
  });
  const junk = fc.oneof(fc.object(), anything, fc.dictionary(fc.string(), fc.jsonValue()));
  const mutated = fc.record({
    line: fc.constantFrom(...lines),
    path: fc.array(fc.nat(20)),
    value: fc.jsonValue(),
  });
  const frame = fc.oneof(junk, mutated.map(mutate));

  test("it never throws, and what comes out is valid", () => {
    fc.assert(
      fc.property(options, fc.array(fc.oneof(frame, fc.constant(undefined))), (chosen, steps) => {
        const trace = traces[0];
        if (trace === undefined) throw new Error("no traces");
        const state = stateFor(trace, chosen);
        for (const step of steps) {
          if (step === undefined) noteSent(state);
          else for (const report of translate(state, step)) checkReport(report);
        }
      }),
      { numRuns: 1000 },
    );
  });
});

function checkReport(report: ClaudeReport): void {
  if (report.kind === "event") expect(AgentEvent.safeParse(report.event).error).toBeUndefined();
}

/** Replaces one value somewhere inside a recorded frame. */
function mutate({ line, path, value }: { line: JsonObject; path: number[]; value: unknown }): JsonObject {
  const copy = structuredClone(line);
  let at: JsonObject = copy;
  for (const step of path) {
    const keys = Object.keys(at);
    const key = keys[step % Math.max(1, keys.length)] ?? "type";
    const next = at[key];
    if (typeof next !== "object" || next === null) {
      at[key] = value;
      return copy;
    }
    at = next as JsonObject;
  }
  return copy;
}
