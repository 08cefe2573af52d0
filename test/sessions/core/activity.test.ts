// A session's activity, derived from its state after each input.
import fc from "fast-check";
import { expect, test } from "vitest";
import type { AgentEvent } from "../../../src/protocol/events.ts";
import { SESSION_STATES } from "../../../src/protocol/session.ts";
import { deriveActivity } from "../../../src/sessions/core/activity.ts";
import type { Happening } from "../../../src/sessions/core/inputs.ts";
import { reduce } from "../../../src/sessions/core/reduce.ts";
import { createInitialState } from "../../../src/sessions/core/restore.ts";
import type { OpenRequest, SessionState } from "../../../src/sessions/core/state.ts";
import { rowOf } from "../fakes.ts";

const backend = "x";
const GENERATION = "run";
const event = (fields: object): Happening => ({ kind: "event", event: { backend, ...fields } as AgentEvent });
const RESULT = event({ type: "agent.result", subtype: "success" });
const TEXT = event({ type: "agent.delta", kind: "text", text: "a" });
const THINKING = event({ type: "agent.delta", kind: "thinking", text: "a" });
const NOTICE = event({ type: "agent.notice", level: "info", category: "x" });
const TOOL = event({ type: "agent.tool_use", tool_use_id: "1", name: "x", input: {} });
const STARTED: Happening = { kind: "started", generation: GENERATION };
const TURN: Happening = { kind: "turn_started" };
const ENDED: Happening = {
  kind: "ended",
  generation: GENERATION,
  why: { expected: false, message: "gone", code: 1 },
};

const requests = (request_type?: OpenRequest["request_type"], isShown = true): Happening => ({
  kind: "requests",
  generation: GENERATION,
  open:
    request_type === undefined
      ? []
      : [{ request_id: "r", request_type, requested_at_ms: 1, title: "may I?", isShown }],
});

const take = (state: SessionState, happening: Happening) =>
  reduce(state, { ...happening, at_ms: 1, id: GENERATION }).state;

/** From a session whose agent is about to start. */
function run(...happenings: Happening[]): SessionState {
  const asked = take(createInitialState(rowOf("s")), { kind: "job", job: { kind: "begin", job_id: "j" } });
  const starting = take(asked, { kind: "proceed" });
  return happenings.reduce(take, starting);
}

/** Everything that is being written is stored at the end. */
function walk(...happenings: Happening[]) {
  const state = run(...happenings);
  const stored = state.writes.map(
    ({ write_id }): Happening => ({ kind: "written", write_id, isStored: true }),
  );
  return deriveActivity(stored.reduce(take, state));
}

test("an agent being started is starting, until it runs or is known not to", () => {
  expect(deriveActivity(createInitialState(rowOf("s")))).toBe("stopped");
  expect(walk()).toBe("starting");
  expect(walk(STARTED)).toBe("idle");
  const failure = { code: "spawn_failed", message: "no" };
  expect(walk({ kind: "start_failed", generation: GENERATION, failure })).toBe("stopped");
});

test("a run is idle, its turn works, thinks, works again and ends idle", () => {
  expect(walk(STARTED, TURN)).toBe("working");
  expect(walk(STARTED, TURN, THINKING)).toBe("thinking");
  expect(walk(STARTED, TURN, THINKING, TOOL)).toBe("working");
  expect(walk(STARTED, TURN, THINKING, NOTICE)).toBe("thinking");
  expect(walk(STARTED, TURN, TEXT, RESULT)).toBe("idle");
});

test("a turn works until its result is stored, so a client that sees it end finds the result in the history", () => {
  expect(deriveActivity(run(STARTED, TURN, RESULT))).toBe("working");
  expect(deriveActivity(run(STARTED, TURN, ENDED))).toBe("working");
  expect(walk(STARTED, TURN, RESULT)).toBe("idle");
});

test("a request waits for a permission or for input, and its answer lets the turn continue", () => {
  expect(walk(STARTED, TURN, requests("command"))).toBe("waiting_permission");
  expect(walk(STARTED, TURN, requests("user_input"))).toBe("waiting_input");
  expect(walk(STARTED, TURN, requests("user_input"), requests())).toBe("working");
});

test("a request that is not stored yet, or is answered, is not waiting", () => {
  expect(walk(STARTED, TURN, requests("command", false))).toBe("working");
});

test("a request that outlives its turn still waits, and its answer leaves the session idle", () => {
  expect(walk(STARTED, TURN, RESULT, requests("command"))).toBe("waiting_permission");
  expect(walk(STARTED, TURN, RESULT, requests("command"), requests())).toBe("idle");
});

test("having nothing pending changes nothing for a session that was not waiting", () => {
  expect(walk(STARTED, TURN, THINKING, requests())).toBe("thinking");
  expect(walk(STARTED, ENDED, requests())).toBe("stopped");
});

test("a late event does not change an idle session", () => {
  expect(walk(STARTED, TEXT)).toBe("idle");
  expect(walk(STARTED, TURN, RESULT, THINKING)).toBe("idle");
  expect(walk(STARTED, TURN, ENDED, TEXT)).toBe("stopped");
});

test("a run becoming ready does not hide the turn that started meanwhile", () => {
  expect(walk(TURN)).toBe("working");
  expect(walk(TURN, STARTED)).toBe("working");
});

test("any order of inputs ends in a known state, and no turn works after its result", () => {
  const inputs = [TURN, STARTED, ENDED, requests("command"), requests(), TEXT, THINKING, TOOL];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...inputs)), (order) => {
      expect(SESSION_STATES).toContain(walk(...order));
      expect(["idle", "starting", "stopped"]).toContain(walk(...order, RESULT, requests()));
    }),
  );
});
