// The stamps of a turn.
import { describe, expect, test } from "vitest";
import type { AgentEvent, ResultEvent } from "../../../src/protocol/events.ts";
import {
  createTurn,
  makeClosingResults,
  makeStartedNotice,
  makeSyntheticResult,
  noteEvent,
  stampResult,
} from "../../../src/sessions/core/turn.ts";

const backend = "claude";
const success: ResultEvent = { type: "agent.result", backend, subtype: "success", num_turns: 1 };
const failure: ResultEvent = { ...success, subtype: "error", error: { code: "x", message: "aborted" } };

describe("the notice", () => {
  test("says which turn started and when", () => {
    expect(makeStartedNotice(createTurn("t1", 1000, "user"), backend)).toEqual({
      type: "agent.notice",
      backend,
      level: "info",
      category: "task_started",
      data: { turn_id: "t1", started_at_ms: 1000 },
    });
  });

  test("says so when the agent started it on its own", () => {
    expect(makeStartedNotice(createTurn("t1", 1000, "agent"), backend).data).toMatchObject({
      origin: "agent",
    });
  });
});

describe("the first token", () => {
  const delta: AgentEvent = { type: "agent.delta", backend, kind: "text", text: "a" };

  test("is the first delta, message or tool call, and later ones do not move it", () => {
    let turn = createTurn("t1", 1000, "user");
    turn = noteEvent(turn, { type: "agent.notice", backend, level: "info", category: "x" }, 1100);
    turn = noteEvent(turn, delta, 1250);
    turn = noteEvent(turn, delta, 1900);
    expect(stampResult(turn, success).time_to_first_token_ms).toBe(250);
  });

  test("the agent's own figure wins; without content there is none; a clock that jumps back gives 0", () => {
    const turn = createTurn("t1", 1000, "user");
    expect(stampResult(turn, success)).not.toHaveProperty("time_to_first_token_ms");
    const noted = noteEvent(turn, delta, 400);
    expect(stampResult(noted, success).time_to_first_token_ms).toBe(0);
    expect(stampResult(noted, { ...success, time_to_first_token_ms: 7 }).time_to_first_token_ms).toBe(7);
  });
});

test("an event that does not affect the turn returns the same object", () => {
  const delta: AgentEvent = { type: "agent.delta", backend, kind: "text", text: "a" };
  const noted = noteEvent(createTurn("t", 1000, "user"), delta, 1100);
  expect(noteEvent(noted, delta, 1200)).toBe(noted);
});

describe("the result", () => {
  test("has the id of its turn and does not modify the agent's event", () => {
    expect(stampResult(createTurn("t1", 0, "user"), success)).toEqual({ ...success, turn_id: "t1" });
    expect(success).not.toHaveProperty("turn_id");
  });

  test("an interrupted turn that the agent reports as an error is interrupted", () => {
    const turn = { ...createTurn("t1", 0, "user"), isInterrupted: true };
    expect(stampResult(turn, failure)).toEqual({ ...success, subtype: "interrupted", turn_id: "t1" });
  });

  test("a turn that finished before the interrupt reached it stays a success", () => {
    const turn = { ...createTurn("t1", 0, "user"), isInterrupted: true };
    expect(stampResult(turn, success).subtype).toBe("success");
  });

  test("a verdict of ours overrides the agent's", () => {
    const verdict = { code: "auth_failed", message: "log in" };
    const turn = { ...createTurn("t1", 0, "user"), isInterrupted: true, verdict };
    expect(stampResult(turn, success)).toMatchObject({ subtype: "error", error: verdict });
  });

  test("a turn without an agent gets a result from us", () => {
    expect(makeSyntheticResult(backend, "interrupted")).toEqual({ ...success, subtype: "interrupted" });
    const error = { code: "backend_crashed", message: "exit 1" };
    expect(makeSyntheticResult(backend, "error", error)).toEqual({ ...success, subtype: "error", error });
  });
});

test("a turn that we end closes the calls without a result, and no others", () => {
  const use = (tool_use_id: string, over = {}): AgentEvent => ({
    type: "agent.tool_use",
    backend,
    tool_use_id,
    name: "x",
    input: {},
    ...over,
  });
  const events = [
    use("done"),
    use("open"),
    use("nested", { parent_tool_use_id: "open" }),
    { type: "agent.tool_result", backend, tool_use_id: "done" } as const,
  ];
  const begun = createTurn("t", 1000, "user");
  const turn = events.reduce((noted, event) => noteEvent(noted, event, 1), begun);
  expect(makeClosingResults(turn, backend)).toMatchObject([
    { type: "agent.tool_result", tool_use_id: "nested", parent_tool_use_id: "open", is_error: true },
    { tool_use_id: "open" },
  ]);
});
