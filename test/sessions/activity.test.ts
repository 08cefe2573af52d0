// What a session is doing, as a reducer.
import fc from "fast-check";
import { expect, test } from "vitest";
import type { AgentEvent } from "../../src/protocol/events.ts";
import { ACTIVITY_STATES } from "../../src/protocol/session.ts";
import { type ActivityInput, nextActivity } from "../../src/sessions/activity.ts";

const backend = "x";
const event = (fields: object) => ({ kind: "event", event: { backend, ...fields } as AgentEvent }) as const;
const RESULT = event({ type: "agent.result", subtype: "success" });
const TEXT = event({ type: "agent.delta", kind: "text", text: "a" });
const THINKING = event({ type: "agent.delta", kind: "thinking", text: "a" });
const NOTICE = event({ type: "agent.notice", level: "info", category: "x" });
const TOOL = event({ type: "agent.tool_use", tool_use_id: "1", name: "x", input: {} });

const requests = (wants: "permission" | "input" | undefined, isTurnActive = true): ActivityInput => ({
  kind: "requests",
  wants,
  isTurnActive,
});

const walk = (...inputs: ActivityInput[]) => inputs.reduce(nextActivity, "stopped");

test("an agent that is on its way up is starting, until it runs or is known not to", () => {
  expect(walk({ kind: "run_starting" })).toBe("starting");
  expect(walk({ kind: "run_starting" }, { kind: "run_started" })).toBe("idle");
  expect(walk({ kind: "run_starting" }, { kind: "run_ended" })).toBe("stopped");
  // One that is started again after an interrupt does not look as if it had been away.
  expect(walk({ kind: "turn_started" }, { kind: "run_starting" })).toBe("working");
});

test("a run is idle, its turn works, thinks, works again and ends idle", () => {
  expect(walk({ kind: "run_started" })).toBe("idle");
  expect(walk({ kind: "run_started" }, { kind: "turn_started" })).toBe("working");
  expect(walk({ kind: "turn_started" }, THINKING)).toBe("thinking");
  expect(walk({ kind: "turn_started" }, THINKING, TOOL)).toBe("working");
  expect(walk({ kind: "turn_started" }, THINKING, NOTICE)).toBe("thinking");
  expect(walk({ kind: "turn_started" }, TEXT, RESULT)).toBe("idle");
});

test("a request waits for a permission or for input, and its answer lets the turn go on", () => {
  const begun: ActivityInput = { kind: "turn_started" };
  expect(walk(begun, requests("permission"))).toBe("waiting_permission");
  expect(walk(begun, requests("input"))).toBe("waiting_input");
  expect(walk(begun, requests("input"), requests(undefined))).toBe("working");
});

test("a request that outlives its turn still waits, and its answer leaves the session idle", () => {
  const begun: ActivityInput = { kind: "turn_started" };
  expect(walk(begun, RESULT, requests("permission", false))).toBe("waiting_permission");
  expect(walk(begun, RESULT, requests("permission", false), requests(undefined, false))).toBe("idle");
});

test("that nothing waits changes nothing for a session that did not wait", () => {
  expect(walk({ kind: "turn_started" }, THINKING, requests(undefined))).toBe("thinking");
  expect(walk({ kind: "run_ended" }, requests(undefined, false))).toBe("stopped");
});

test("an event that comes late wakes nobody", () => {
  expect(walk({ kind: "run_started" }, TEXT)).toBe("idle");
  expect(walk({ kind: "turn_started" }, RESULT, THINKING)).toBe("idle");
  expect(walk({ kind: "turn_started" }, { kind: "run_ended" }, TEXT)).toBe("stopped");
});

test("starting a run that is already known does not hide its turn", () => {
  expect(walk({ kind: "turn_started" }, { kind: "run_started" })).toBe("working");
});

test("any order of inputs ends in a known state, and a result always ends in idle", () => {
  const inputs = [
    { kind: "turn_started" },
    { kind: "run_started" },
    { kind: "run_ended" },
    requests("permission"),
    requests(undefined, false),
    TEXT,
    THINKING,
    TOOL,
  ];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...(inputs as ActivityInput[]))), (order) => {
      expect(ACTIVITY_STATES).toContain(walk(...order));
      expect(walk(...order, RESULT)).toBe("idle");
    }),
  );
});
