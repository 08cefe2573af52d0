// When claude is busy after its turn, with the output of 2.1.325 and 2.1.197.
import { expect, test } from "vitest";
import { isBusy } from "../../../src/backends/claude/background.ts";
import type { ClaudeOptions } from "../../../src/backends/claude/options.ts";
import { createState, isTurnActive } from "../../../src/backends/claude/state.ts";
import { translate } from "../../../src/backends/claude/translate.ts";
import { noteSent } from "../../../src/backends/claude/turns.ts";
import type { JsonObject } from "../../../src/base/json.ts";
import { readTraces, stateFor } from "./traces.ts";

const stateOf = (options: ClaudeOptions = {}) => createState({ session_id: "s", options, projects: "/p" });
const system = (subtype: string, more: JsonObject = {}) => ({ type: "system", subtype, ...more });
const started = (more: JsonObject) =>
  system("task_started", { task_id: "a1", task_type: "local_agent", is_backgrounded: true, ...more });
const ended = (task_id = "a1") => system("task_notification", { task_id, status: "completed" });
const IDLE = system("session_state_changed", { state: "idle" });
const RUNNING = system("session_state_changed", { state: "running" });
const RESULT = { type: "result", subtype: "success" };

/** Turn and busy after each frame of a recording. */
function course(name: string): string[] {
  const trace = readTraces().find((one) => one.name === name);
  if (trace === undefined) throw new Error(`no trace ${name}`);
  const state = stateFor(trace);
  const seen = trace.steps.map(({ dir, msg }) => {
    if (dir === "out") noteSent(state);
    else translate(state, msg);
    return isTurnActive(state) ? "turn" : isBusy(state) ? "busy" : "idle";
  });
  return seen.filter((now, at) => now !== seen[at - 1]);
}

test("between an asynchronous sub-agent's start and the turn that claude begins for it, claude is busy", () => {
  expect(course("72-async-subagent")).toEqual(["turn", "busy", "turn", "idle"]);
});

test("a sub-agent whose end claude mentions in the running turn leaves claude idle", () => {
  expect(course("73-async-subagent-folded").at(-1)).toBe("idle");
});

test("a foreground command is not background work, although it has a task of its own", () => {
  expect(course("74-foreground-bash")).toEqual(["turn", "idle"]);
  const state = stateOf();
  translate(state, started({ is_backgrounded: false }));
  expect(isBusy(state)).toBe(false);
});

test("a background command may be a server, so it does not count", () => {
  expect(course("48-background-bash")).toEqual(["turn", "idle", "turn", "idle"]);
  const state = stateOf();
  translate(state, started({ task_type: "local_bash" }));
  expect(isBusy(state)).toBe(false);
});

test("2.1.197 reports an asynchronous sub-agent only in the result of its tool", () => {
  const state = stateOf();
  noteSent(state);
  for (const frame of [RUNNING, started({ is_backgrounded: undefined })]) translate(state, frame);
  expect(isBusy(state)).toBe(false);
  const content = [{ type: "tool_result", tool_use_id: "t", content: "Async agent launched" }];
  translate(state, {
    type: "user",
    message: { role: "user", content },
    tool_use_result: { isAsync: true, status: "async_launched", agentId: "a1" },
  });
  // This one says idle although its sub-agent works.
  for (const frame of [RESULT, IDLE]) translate(state, frame);
  expect(isBusy(state)).toBe(true);
  for (const frame of [ended(), IDLE]) translate(state, frame);
  expect(isBusy(state)).toBe(false);
});

test("one that is missing in the list of all has ended, also when its own end was not seen", () => {
  const state = stateOf();
  for (const frame of [RUNNING, started({}), started({ task_id: "a2" })]) translate(state, frame);
  translate(state, system("background_tasks_changed", { tasks: [{ task_id: "a2" }] }));
  translate(state, IDLE);
  expect([...state.background.keys()]).toEqual(["a2"]);
});

test("without state events a sub-agent is forgotten as it ends: nothing else would say that no turn follows", () => {
  const state = stateOf();
  translate(state, started({}));
  expect(isBusy(state)).toBe(true);
  translate(state, ended());
  expect(isBusy(state)).toBe(false);
});

test("one that was stopped leaves claude idle: no turn mentions it, and no other idle follows", () => {
  const state = stateOf();
  for (const frame of [RUNNING, started({}), RESULT, IDLE]) translate(state, frame);
  expect(isBusy(state)).toBe(true);
  translate(state, system("task_notification", { task_id: "a1", status: "stopped" }));
  translate(state, system("background_tasks_changed", { tasks: [] }));
  expect(isBusy(state)).toBe(false);
});
