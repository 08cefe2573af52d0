// The rules of the translation that a trace alone does not show.
import { describe, expect, test } from "vitest";
import {
  type CodexReport,
  type CodexState,
  type CodexTranslateOptions,
  createState,
  type Notification,
} from "../../../src/backends/codex/app-server/state.ts";
import { findPath, ownsThread, takeNewThreads } from "../../../src/backends/codex/app-server/subagents.ts";
import { closeOpenItems, onStarted, translate } from "../../../src/backends/codex/app-server/translate.ts";
import type { JsonObject } from "../../../src/base/json.ts";
import type { AgentEvent } from "../../../src/protocol/events.ts";

const ROOT = "root";
const STARTED = turn("turn/started", "inProgress");
const COMPLETED = turn("turn/completed", "completed");
const INTERRUPTED = turn("turn/completed", "interrupted");

function note(method: string, params: JsonObject = {}): Notification {
  return { method, params: { threadId: ROOT, ...params } };
}

function turn(method: string, status: string, more: JsonObject = {}): Notification {
  return note(method, { turn: { id: "t1", status, error: null, durationMs: 5, ...more } });
}

function item(when: "started" | "completed", fields: JsonObject, threadId = ROOT): Notification {
  return { method: `item/${when}`, params: { threadId, turnId: "t1", item: { id: "i1", ...fields } } };
}

function usage(total: number, last: number, threadId = ROOT): Notification {
  const count = (tokens: number): JsonObject => ({ inputTokens: tokens, outputTokens: 1, totalTokens: 999 });
  const tokenUsage = { total: count(total), last: count(last), modelContextWindow: 1000 };
  return { method: "thread/tokenUsage/updated", params: { threadId, turnId: "t1", tokenUsage } };
}

function failed(error: JsonObject): Notification {
  return turn("turn/completed", "failed", { error });
}

function fresh(options: CodexTranslateOptions = {}): CodexState {
  return createState({ threadId: ROOT, options });
}

function play(messages: Notification[], state = fresh()): CodexReport[] {
  return messages.flatMap((message) => translate(state, message));
}

function events(messages: Notification[], state = fresh()): AgentEvent[] {
  return play(messages, state).flatMap((report) => (report.kind === "event" ? [report.event] : []));
}

function names(reports: CodexReport[]): string[] {
  return reports.map((report) =>
    report.kind === "event" ? report.event.type.replace("agent.", "") : report.kind,
  );
}

const COMMAND = { type: "commandExecution", command: "ls", cwd: "/w", status: "inProgress" };

describe("turns", () => {
  test("a turn of the root begins, ends with one result, and is then reported as ended", () => {
    expect(names(play([STARTED, COMPLETED]))).toEqual(["turn_started", "result", "turn_ended"]);
  });

  test("another session's thread produces nothing", () => {
    const foreign = { ...STARTED, params: { ...(STARTED.params as JsonObject), threadId: "other" } };
    expect(play([foreign])).toEqual([]);
  });

  test("an interrupt closes open calls before the result, and their own end is no second result", () => {
    const late = item("completed", { ...COMMAND, status: "failed", exitCode: -1 });
    const reports = play([STARTED, item("started", COMMAND), INTERRUPTED, late]);
    expect(names(reports)).toEqual([
      ...["turn_started", "tool_use", "tool_result", "result", "turn_ended"],
      "notice",
    ]);
    expect(reports[2]).toMatchObject({ event: { tool_use_id: "i1", is_error: true } });
    expect(reports.at(-1)).toMatchObject({ event: { category: "late_result" } });
  });

  test("a command that continues after its turn gets its result when it ends", () => {
    const end = item("completed", { ...COMMAND, status: "completed", exitCode: 0, aggregatedOutput: "x" });
    expect(names(play([STARTED, item("started", COMMAND), COMPLETED, end]))).toEqual([
      ...["turn_started", "tool_use", "result", "turn_ended"],
      "tool_result",
    ]);
  });

  test("when the agent is gone, every open call of every thread is closed once", () => {
    const state = fresh();
    play([STARTED, item("started", COMMAND), item("started", { id: "i2", type: "reasoning" })], state);
    expect(names(closeOpenItems(state))).toEqual(["tool_result"]);
    expect(closeOpenItems(state)).toEqual([]);
  });

  test.each(["thread/closed", "thread/archived", "thread/deleted"])(
    "%s of the root is reported",
    (method) => {
      expect(play([note(method)])).toEqual([{ kind: "thread_closed" }]);
    },
  );
});

describe("usage", () => {
  const inputOf = (messages: Notification[]): unknown =>
    events(messages)
      .filter((event) => event.type === "agent.result")
      .map((event) => (event.type === "agent.result" ? event.usage?.input_tokens : 0));

  test("a turn with two model calls counts both", () => {
    expect(inputOf([STARTED, usage(100, 100), usage(250, 150), COMPLETED])).toEqual([250]);
  });

  test("an update that repeats the turn before counts nothing", () => {
    const turns = [STARTED, usage(100, 100), COMPLETED, STARTED, usage(100, 100), usage(130, 30), COMPLETED];
    expect(inputOf(turns)).toEqual([100, 30]);
  });

  test("usage before a resume is reported outside a turn and is not this turn's", () => {
    expect(inputOf([usage(5000, 100), STARTED, usage(5040, 40), COMPLETED])).toEqual([40]);
  });

  test("after a revert the total is smaller, and the model call itself counts", () => {
    const before = [STARTED, usage(300, 300), COMPLETED, note("thread/reverted")];
    expect(inputOf([...before, STARTED, usage(350, 200), usage(360, 10), COMPLETED])).toEqual([300, 210]);
  });

  test("a turn that called no model has no usage", () => {
    expect(events([STARTED, COMPLETED])[0]).not.toHaveProperty("usage");
  });
});

describe("errors", () => {
  const http = (name: string, httpStatusCode: number | null): JsonObject => ({
    message: "m",
    codexErrorInfo: { [name]: { httpStatusCode } },
  });

  test.each([
    [http("httpConnectionFailed", 401), "auth_failed"],
    [http("httpConnectionFailed", 403), "auth_failed"],
    [{ message: "m", codexErrorInfo: "unauthorized" }, "auth_failed"],
    [{ message: "401: Unauthorized", codexErrorInfo: "other" }, "auth_failed"],
    [http("responseTooManyFailedAttempts", 429), "rate_limited"],
    [{ message: "m", codexErrorInfo: "rateLimitExceeded" }, "rate_limited"],
    [{ message: "m", codexErrorInfo: "contextWindowExceeded" }, "context_exceeded"],
    [{ message: "m", codexErrorInfo: "usageLimitExceeded" }, "quota_exhausted"],
    [http("httpConnectionFailed", null), "network"],
    [{ message: "m", codexErrorInfo: "other" }, "agent_error"],
    [{ message: "m", codexErrorInfo: null }, "agent_error"],
  ])("%j has the code %s", (error, code) => {
    const [, ...reports] = play([STARTED, failed(error)]);
    const isAuth = code === "auth_failed";
    expect(names(reports)).toEqual([...(isAuth ? ["auth_failed"] : []), "result", "turn_ended"]);
    expect(reports.at(-2)).toMatchObject({ event: { subtype: "error", error: { code } } });
  });

  test("a failed turn without an error gets the last one that Codex reported", () => {
    const error = { message: "gone", codexErrorInfo: "serverOverloaded" };
    const told = note("error", { willRetry: false, turnId: "t1", error });
    expect(events([STARTED, told, turn("turn/completed", "failed")])).toMatchObject([
      { subtype: "error", error: { code: "overloaded", native_code: "server_overloaded", message: "gone" } },
    ]);
  });

  test("a budget that is used up is not an error", () => {
    const error = { message: "m", codexErrorInfo: "sessionBudgetExceeded" };
    expect(events([STARTED, failed(error)])).toMatchObject([{ subtype: "max_budget" }]);
  });

  test("a retry is a notice, and the first item after it reports progress once", () => {
    const retry = note("error", {
      willRetry: true,
      error: { message: "Reconnecting", additionalDetails: "why" },
    });
    const delta = note("item/agentMessage/delta", { itemId: "i1", delta: "a" });
    const reports = play([STARTED, retry, delta, delta, COMPLETED]);
    expect(names(reports)).toEqual([
      ...["turn_started", "notice", "retrying", "progress", "delta", "delta"],
      ...["result", "turn_ended"],
    ]);
    expect(reports[1]).toMatchObject({ event: { level: "warn", category: "model_retry" } });
    expect(reports[2]).toMatchObject({ message: "Reconnecting: why" });
    expect(reports.at(-2)).toMatchObject({ event: { subtype: "success" } });
  });

  test("an error outside a turn is reported, because no result will do it", () => {
    const error = note("error", { willRetry: false, error: { message: "m" } });
    expect(events([error])).toMatchObject([{ level: "error", category: "error_reported", text: "m" }]);
  });
});

describe("items", () => {
  const both = (start: JsonObject, end: JsonObject): AgentEvent[] =>
    events([item("started", start), item("completed", { ...start, ...end })]);

  test.each([
    [{ ...COMMAND, status: "completed", exitCode: 0, aggregatedOutput: "out\n" }, "out\n", false],
    [{ ...COMMAND, status: "failed", exitCode: 3, aggregatedOutput: "out" }, "out\n[exit code 3]", true],
    [{ ...COMMAND, status: "declined" }, "declined", true],
  ])("a command: %j", (end, output, is_error) => {
    expect(both(COMMAND, end)).toMatchObject([
      { type: "agent.tool_use", tool_use_id: "i1", name: "shell", input: { command: "ls", cwd: "/w" } },
      { type: "agent.tool_result", tool_use_id: "i1", output, is_error },
    ]);
  });

  test.each([
    [{ type: "mcpToolCall", server: "s", tool: "t", arguments: { a: 1 } }, "mcp__s__t", { a: 1 }],
    [{ type: "dynamicToolCall", namespace: "n", tool: "t", arguments: { a: 1 } }, "n__t", { a: 1 }],
    [{ type: "webSearch", query: "q", action: null }, "web_search", { query: "q" }],
    [{ type: "imageView", path: "/p" }, "view_image", { path: "/p" }],
    [{ type: "imageGeneration", revisedPrompt: "p" }, "image_generation", { prompt: "p" }],
    [{ type: "sleep", durationMs: 5 }, "sleep", { duration_ms: 5 }],
    [{ type: "functionCallOutput", namespace: null, name: "f", output: "o" }, "f", {}],
    [
      { type: "collabAgentToolCall", tool: "sendInput", prompt: "p", model: "" },
      "send_input",
      { prompt: "p" },
    ],
    [{ type: "fileChange", changes: [] }, "apply_patch", { changes: [] }],
  ])("%j is a call of a tool", (fields, name, input) => {
    expect(both(fields, { status: "completed" })).toMatchObject([
      { type: "agent.tool_use", name, input },
      { type: "agent.tool_result", is_error: false },
    ]);
  });

  test.each([
    [{ type: "mcpToolCall", error: { message: "no" } }, "no", true],
    [
      { type: "mcpToolCall", result: { content: [{ type: "text", text: "a" }] } },
      [{ type: "text", text: "a" }],
      false,
    ],
    [{ type: "mcpToolCall", result: { content: [], structuredContent: { a: 1 } } }, { a: 1 }, false],
    [{ type: "dynamicToolCall", success: false, contentItems: [] }, [], true],
    [{ type: "fileChange", status: "failed", changes: [] }, "failed", true],
    [
      { type: "fileChange", changes: [{ path: "a", kind: { type: "update", move_path: "b" } }] },
      "update a → b",
      false,
    ],
  ])("%j gives back %j", (fields, output, is_error) => {
    expect(events([item("completed", fields)])).toMatchObject([
      { type: "agent.tool_use", tool_use_id: "i1" },
      { type: "agent.tool_result", tool_use_id: "i1", output, is_error },
    ]);
  });

  test("a message, a plan, and the model's inline questions", () => {
    const message = { type: "agentMessage", text: "hi", phase: "final_answer" };
    const asking = {
      type: "agentMessage",
      text: "hi",
      phase: null,
      questions: [{ title: "q", options: null }],
    };
    expect(events([item("completed", message)])).toMatchObject([
      { phase: "final_answer", message_id: "i1", content: [{ type: "text", text: "hi" }] },
    ]);
    expect(events([item("completed", { type: "plan", text: "1." })])).toMatchObject([{ phase: "plan" }]);
    expect(events([item("completed", asking)])).toMatchObject([
      { content: [{ type: "text" }, { type: "questions", questions: [{ title: "q" }] }] },
    ]);
  });

  test("reasoning is reported in deltas, or whole if there were none", () => {
    const start = item("started", { type: "reasoning", summary: [], content: [] });
    const end = item("completed", { type: "reasoning", summary: ["a", "b"], content: [] });
    const delta = note("item/reasoning/summaryTextDelta", { itemId: "i1", delta: "a", summaryIndex: 1 });
    expect(events([start, delta, end])).toMatchObject([
      { type: "agent.delta", kind: "thinking", text: "a", index: 1, item_id: "i1" },
    ]);
    expect(events([start, end])).toMatchObject([{ type: "agent.delta", kind: "thinking", text: "a\n\nb" }]);
  });

  test("the user's message is echoed only on request", () => {
    const echoed = item("completed", {
      type: "userMessage",
      content: [{ type: "text", text: "a", more: 1 }],
    });
    expect(events([echoed])).toEqual([]);
    expect(events([echoed], fresh({ user_echo: true }))).toMatchObject([
      { type: "agent.user_echo", message: { role: "user", content: [{ type: "text", text: "a" }] } },
    ]);
  });

  test("an unknown item is reported when it starts and when it ends", () => {
    const fields = { type: "newThing", a: 1 };
    expect(both(fields, {})).toMatchObject([
      { category: "codex_item_newThing", data: { a: 1, state: "started" } },
      { category: "codex_item_newThing", data: { a: 1, state: "completed" } },
    ]);
    expect(both({ type: "exitedReviewMode", review: "fine" }, {})).toMatchObject([
      { category: "codex_item_exitedReviewMode", text: "fine" },
    ]);
  });
});

describe("notices", () => {
  test("an unknown notification is reported with its content", () => {
    expect(events([note("some/new/thing", { a: 1, message: "m" })])).toEqual([
      {
        type: "agent.notice",
        backend: "codex",
        level: "info",
        category: "codex_notif_some_new_thing",
        text: "m",
        data: { a: 1, message: "m" },
      },
    ]);
  });

  test("output of a running command, diff and plan", () => {
    expect(
      events([
        note("item/commandExecution/outputDelta", { itemId: "i1", delta: "x" }),
        note("turn/diff/updated", { diff: "d" }),
        note("turn/diff/updated", { diff: "d" }),
        note("turn/plan/updated", { explanation: null, plan: [{ step: "s", status: "pending" }] }),
      ]),
    ).toMatchObject([
      { category: "tool_output", data: { tool_use_id: "i1", text: "x" } },
      { category: "turn_diff", data: { diff: "d" } },
      { category: "plan", data: { plan: [{ step: "s", status: "pending" }] } },
    ]);
  });

  test("rate limits are reported when they change", () => {
    const primary = { usedPercent: 12.5, windowDurationMins: 300, resetsAt: 5 };
    const limits = (used: JsonObject | null): Notification => ({
      method: "account/rateLimits/updated",
      params: { rateLimits: { limitId: "codex", primary: used, secondary: null, planType: used && "pro" } },
    });
    expect(events([limits(null), limits(primary), limits(primary)])).toMatchObject([
      {
        category: "rate_limits",
        data: {
          limit: { resets_at_ms: 5000, used_percent: 12.5, window_minutes: 300 },
          vendor: { limitId: "codex", planType: "pro" },
        },
      },
    ]);
  });

  test("raw is on every event when asked for", () => {
    const message = note("warning", { message: "m" });
    expect(events([message], fresh({ include_raw_events: true }))).toMatchObject([{ raw: message }]);
    expect(events([message])[0]).not.toHaveProperty("raw");
  });
});

describe("introduction", () => {
  const result = { thread: { id: ROOT, path: "/r.jsonl" }, model: "m", cwd: "/w", approvalPolicy: "never" };

  test("describes the thread, and again only what changed", () => {
    const state = fresh();
    expect(names(onStarted(state, result))).toEqual(["system_init"]);
    expect(onStarted(state, result)).toEqual([]);
    const settings = note("thread/settings/updated", { threadSettings: { model: "n", effort: "high" } });
    expect(events([settings, settings], state)).toMatchObject([
      {
        model: "n",
        cwd: "/w",
        native_session_id: ROOT,
        capabilities: { approval_policy: "never", reasoning_effort: "high", rollout_path: "/r.jsonl" },
      },
    ]);
  });

  test("the context window is reported with the turn after the first model call", () => {
    const state = fresh();
    onStarted(state, result);
    expect(names(play([STARTED, usage(1, 1), COMPLETED, STARTED], state))).toEqual([
      ...["turn_started", "used", "result", "turn_ended"],
      ...["system_init", "turn_started"],
    ]);
  });
});

describe("sub-agents", () => {
  const spawn = { id: "c1", type: "collabAgentToolCall", tool: "spawnAgent", senderThreadId: ROOT };
  const spawned = item("completed", { ...spawn, status: "completed", receiverThreadIds: ["sub"] });

  test("are learned at any depth, each reported to the router once", () => {
    const state = fresh();
    const deeper = { ...spawn, id: "c2", senderThreadId: "sub", receiverThreadIds: ["deep"] };
    play([spawned, item("completed", deeper, "sub"), spawned], state);
    expect(takeNewThreads(state)).toEqual(["sub", "deep"]);
    expect(takeNewThreads(state)).toEqual([]);
    expect(ownsThread(state, "deep")).toBe(true);
    expect(ownsThread(state, "other")).toBe(false);
    expect(findPath(state, "deep")).toEqual(["sub", "deep"]);
    expect(findPath(state, ROOT)).toEqual([]);
  });

  test("their events carry the call that started them, and their turns make no result", () => {
    const state = fresh();
    const sub = (message: Notification): Notification => ({
      ...message,
      params: { ...(message.params as JsonObject), threadId: "sub" },
    });
    const messages = [spawned, sub(STARTED), item("completed", { type: "agentMessage", text: "a" }, "sub")];
    const reports = play([...messages, usage(70, 70, "sub"), sub(COMPLETED)], state);
    expect(names(reports)).toEqual(["tool_use", "tool_result", "message", "notice"]);
    expect(reports.slice(2)).toMatchObject([
      { event: { parent_tool_use_id: "c1" } },
      {
        event: {
          category: "subagent_finished",
          parent_tool_use_id: "c1",
          data: {
            tool_use_id: "c1",
            subtype: "success",
            usage: { input_tokens: 70 },
            native: { thread_id: "sub" },
          },
        },
      },
    ]);
  });

  test("belong to the call that started them, whichever thread sends to them later", () => {
    const state = fresh();
    const spoken = { ...spawn, id: "c2", tool: "sendInput", receiverThreadIds: ["sub"] };
    play([spawned, item("completed", spoken)], state);
    expect(state.threads.get("sub")?.toolUseId).toBe("c1");
  });

  test("one that announces itself has a name, and belongs to the call that is starting it", () => {
    const state = fresh();
    const thread = { id: "sub", parentThreadId: ROOT, agentNickname: "Ada", agentRole: "worker" };
    play(
      [
        item("started", { ...spawn, receiverThreadIds: [] }),
        { method: "thread/started", params: { thread } },
      ],
      state,
    );
    expect(findPath(state, "sub")).toEqual(["Ada"]);
    expect(events([item("completed", { type: "plan", text: "p" }, "sub")], state)).toMatchObject([
      { parent_tool_use_id: "c1" },
    ]);
  });

  test("the newer multi-agent mode reports only the sub-agent: that is the call", () => {
    const activity = {
      type: "subAgentActivity",
      kind: "started",
      agentThreadId: "sub",
      agentPath: "/agents/w",
    };
    const state = fresh();
    expect(names(play([item("started", activity), item("completed", activity)], state))).toEqual([
      "tool_use",
      "tool_result",
    ]);
    expect(findPath(state, "sub")).toEqual(["w"]);
    expect(state.threads.get("sub")?.toolUseId).toBe("i1");
  });

  test("the thread of another session's sub-agent is ignored", () => {
    const state = fresh();
    play([{ method: "thread/started", params: { thread: { id: "x", parentThreadId: "other" } } }], state);
    expect(ownsThread(state, "x")).toBe(false);
  });
});
