// The translation table, row by row; whole turns; and arbitrary input. The fixtures are not recordings (such a Codex
// can no longer be run): they were written from what was known of 0.125.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { endTurn } from "../../../src/backends/codex/mcp-server/result.ts";
import {
  createState,
  isOfTurn,
  type McpReport,
  type McpState,
} from "../../../src/backends/codex/mcp-server/state.ts";
import { translate } from "../../../src/backends/codex/mcp-server/translate.ts";
import { isObject, type JsonObject } from "../../../src/base/json.ts";
import { AgentEvent } from "../../../src/protocol/events.ts";

const FIXTURES = join(import.meta.dirname, "../../fixtures/codex-mcp");
const META = { requestId: 3, threadId: "t1" };

function linesOf(file: string): JsonObject[] {
  return readFileSync(join(FIXTURES, file), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}

/** Messages of codex; `{call}` where we send one, `{cancel}` where we cancel it. */
function play(state: McpState, steps: readonly JsonObject[]): McpReport[] {
  return steps.flatMap((step) => {
    if (isObject(step["call"])) state.requestId = step["call"]["requestId"] as number;
    if (step["cancel"] === true) state.isCancelled = true;
    if (typeof step["method"] === "string")
      return translate(state, step["method"], step["params"] as JsonObject);
    if (!isOfTurn(state, step["id"])) return [];
    if (isObject(step["error"])) return endTurn(state, { kind: "error", error: step["error"] });
    return "result" in step ? endTurn(state, { kind: "result", result: step["result"] }) : [];
  });
}

function inTurn(options: JsonObject = {}): McpState {
  const state = createState(options, "t1");
  state.requestId = 3;
  return state;
}

function eventsOf(msg: JsonObject, state = inTurn()): unknown[] {
  const reports = translate(state, "codex/event", { _meta: META, msg });
  return reports.flatMap((report) => (report.kind === "event" ? [report.event] : []));
}

const notice = (category: string, data?: object) => ({
  type: "agent.notice",
  backend: "codex",
  level: "info",
  category,
  ...(data === undefined ? {} : { data }),
});

describe("whole turns", () => {
  const traces = readdirSync(FIXTURES).filter((name) => name.endsWith(".native.jsonl"));

  test.each(traces)("%s becomes the events beside it", (name) => {
    const reports = play(createState({}, undefined), linesOf(name));
    expect(reports).toEqual(linesOf(name.replace(".native.", ".agent.")));
    for (const report of reports) {
      if (report.kind === "event") expect(AgentEvent.safeParse(report.event).error).toBeUndefined();
    }
  });

  test("there are some", () => expect(traces.length).toBeGreaterThan(2));
});

describe("rows", () => {
  test.each<[string, JsonObject, unknown[]]>([
    ["nothing to report", { type: "agent_message", message: "x" }, []],
    ["reasoning", { type: "item_completed", item: { type: "Reasoning", id: "r" } }, []],
    [
      "the user's message, unless requested",
      { type: "item_completed", item: { type: "UserMessage", content: [] } },
      [],
    ],
    [
      "an unknown type",
      { type: "web_search_begin", call_id: "c" },
      [notice("codex_unknown_web_search_begin")],
    ],
    ["no type", { message: "x" }, []],
    [
      "another exec event",
      { type: "exec_command_output_delta", call_id: "c" },
      [notice("codex_exec_command_output_delta")],
    ],
    ["a command without an id", { type: "exec_command_begin" }, [notice("codex_exec_command_begin")]],
    [
      "a named tool with params",
      { type: "exec_command_begin", call_id: "c", tool: "unified", params: { a: 1 } },
      [{ type: "agent.tool_use", backend: "codex", tool_use_id: "c", name: "unified", input: { a: 1 } }],
    ],
    [
      "a command that says nothing",
      { type: "exec_command_begin", call_id: "c" },
      [{ type: "agent.tool_use", backend: "codex", tool_use_id: "c", name: "shell", input: {} }],
    ],
    [
      "output under its plain name, and its own is_error",
      { type: "exec_command_end", call_id: "c", output: { a: 1 }, is_error: false, exit_code: 1 },
      [{ type: "agent.tool_result", backend: "codex", tool_use_id: "c", output: { a: 1 }, is_error: false }],
    ],
    ["no rate limits", { type: "token_count", info: null }, [notice("rate_limits")]],
    [
      "rate limits without windows",
      { type: "token_count", info: null, rate_limits: { primary: null, secondary: null, plan_type: null } },
      [notice("rate_limits", { vendor: { plan_type: null } })],
    ],
    [
      "a block that is not text is unchanged",
      {
        type: "item_completed",
        item: { type: "AgentMessage", content: [{ type: "Image", url: "u" }, "x", { a: 1 }] },
      },
      [
        {
          type: "agent.message",
          backend: "codex",
          role: "assistant",
          content: [{ type: "Image", url: "u" }],
        },
      ],
    ],
  ])("%s", (_name, msg, events) => {
    expect(eventsOf(msg)).toEqual(events);
  });

  test("the user's message if requested", () => {
    const content = [{ type: "text", text: "hi", text_elements: [] }];
    const msg = { type: "item_completed", item: { type: "UserMessage", content } };
    expect(eventsOf(msg, inTurn({ user_echo: true }))).toEqual([
      {
        type: "agent.user_echo",
        backend: "codex",
        message: { role: "user", content: [{ type: "text", text: "hi" }] },
      },
    ]);
  });

  test("the context window of an earlier task is in a later init", () => {
    const state = inTurn();
    eventsOf({ type: "task_started", model_context_window: 1000 }, state);
    expect(eventsOf({ type: "session_configured", session_id: "t1" }, state)).toMatchObject([
      { type: "agent.system_init", native_session_id: "t1", context_window: 1000, capabilities: {} },
    ]);
  });

  test("raw is the event with its meta, on everything that comes from an event", () => {
    const state = inTurn({ include_raw_events: true });
    const msg = { type: "agent_message_content_delta", delta: "x" };
    expect(eventsOf(msg, state)).toMatchObject([{ type: "agent.delta", raw: { ...msg, _meta: META } }]);
    const [ended] = endTurn(state, { kind: "result", result: {} });
    expect(ended).not.toHaveProperty("event.raw");
  });

  test("a turn that was completed and then aborted keeps its held data, and the next one has none of it", () => {
    const state = inTurn();
    eventsOf({ type: "task_complete", turn_id: "a", duration_ms: 5 }, state);
    expect(eventsOf({ type: "turn_aborted", turn_id: "b" }, state)).toMatchObject([
      { subtype: "interrupted", duration_ms: 5 },
    ]);
    state.requestId = 4;
    expect(endTurn(state, { kind: "result", result: {} })).toEqual([
      { kind: "event", event: { type: "agent.result", backend: "codex", subtype: "success", num_turns: 1 } },
    ]);
  });
});

describe("the thread", () => {
  test.each<[string, JsonObject, JsonObject, string]>([
    ["the meta comes first", { requestId: 3, threadId: "meta" }, { session_id: "msg" }, "meta"],
    ["else the id of session_configured", { requestId: 3 }, { session_id: "msg" }, "msg"],
  ])("%s, reported once", (_name, _meta, over, id) => {
    const state = inTurn();
    const params = { _meta, msg: { type: "session_configured", ...over } };
    expect(translate(state, "codex/event", params)[0]).toEqual({ kind: "native_id", id });
    expect(translate(state, "codex/event", params).map(({ kind }) => kind)).toEqual(["event"]);
  });

  test("else the one beside the final text", () => {
    const state = createState({}, undefined);
    state.requestId = 3;
    const [first] = endTurn(state, { kind: "result", result: { structuredContent: { threadId: "end" } } });
    expect(first).toEqual({ kind: "native_id", id: "end" });
  });
});

describe("events of another call", () => {
  const msg = { type: "agent_message_content_delta", delta: "x" };

  test.each<[string, unknown, number]>([
    ["its own", 3, 1],
    ["its own as text", "3", 1],
    ["the one before", 2, 0],
    ["none", undefined, 0],
  ])("requestId: %s", (_name, requestId, count) => {
    expect(translate(inTurn(), "codex/event", { _meta: { requestId }, msg })).toHaveLength(count);
  });

  test("between turns nothing is an event; other notifications are reported", () => {
    const idle = createState({}, "t1");
    expect(translate(idle, "codex/event", { _meta: META, msg })).toEqual([]);
    expect(translate(idle, "notifications/x", {})).toEqual([
      { kind: "event", event: notice("codex_notif_notifications/x") },
    ]);
  });
});

test("whatever comes, it does not throw and every event is valid", () => {
  const types = linesOf("01-first-turn.native.jsonl").flatMap((line) => {
    const params = isObject(line["params"]) ? line["params"] : {};
    return isObject(params["msg"]) ? [String(params["msg"]["type"])] : [];
  });
  const keys = [
    "item",
    "info",
    "rate_limits",
    "call_id",
    "delta",
    "turn_id",
    "started_at",
    "codex_error_info",
  ];
  const values = fc.oneof(
    fc.jsonValue(),
    fc.record({ type: fc.constantFrom("AgentMessage", "UserMessage"), content: fc.jsonValue() }),
    fc.record({ last_token_usage: fc.jsonValue(), primary: fc.jsonValue() }),
  );
  const msgs = fc
    .tuple(fc.constantFrom(...types, "error", "x"), fc.dictionary(fc.constantFrom(...keys), values))
    .map(([type, rest]) => ({ ...rest, type }));
  fc.assert(
    fc.property(fc.array(msgs, { maxLength: 5 }), fc.jsonValue(), (list, result) => {
      const state = inTurn({ user_echo: true, include_raw_events: true });
      const reports = [
        ...list.flatMap((msg) => translate(state, "codex/event", { _meta: META, msg })),
        ...endTurn(state, { kind: "result", result }),
        ...endTurn(state, { kind: "error", error: isObject(result) ? result : {} }),
      ];
      for (const report of reports) {
        if (report.kind === "event") expect(AgentEvent.safeParse(report.event).error).toBeUndefined();
      }
    }),
    { numRuns: 500 },
  );
});
