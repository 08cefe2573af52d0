import { expect, test } from "vitest";
import { createState } from "../../../src/backends/claude/state.ts";
import { noteSteer, toSteerId } from "../../../src/backends/claude/steers.ts";
import { translate } from "../../../src/backends/claude/translate.ts";
import { noteSent } from "../../../src/backends/claude/turns.ts";

const ID = "msg_0123456789abcdef0123456789abcdef";
const UUID = "01234567-89ab-cdef-0123-456789abcdef";

function steered() {
  const state = createState({ session_id: "s", options: {}, projects: "" });
  noteSent(state);
  noteSteer(state, UUID, ID);
  const say = (lifecycle: string) =>
    translate(state, { type: "command_lifecycle", command_uuid: UUID, state: lifecycle });
  return { state, say };
}

test("a message for the turn has its own id there, unless that is not random", () => {
  expect(toSteerId(ID)).toBe(UUID);
  expect(toSteerId("wake_1")).toBeUndefined();
});

test("claude that reports what becomes of messages takes them during turns", () => {
  const { state, say } = steered();
  expect(state.hasLifecycle).toBeUndefined();
  expect(say("queued")).toEqual([]);
  expect(state.hasLifecycle).toBe(true);
});

test("it is part of the turn when claude starts it during the turn, and that is reported once", () => {
  const { state, say } = steered();
  expect(say("started")).toEqual([{ kind: "steered", message_id: ID, how: "taken" }]);
  expect(say("completed")).toEqual([]);
  expect(state.steers?.size).toBe(0);
});

test("a turn begins with it when claude starts it after the turn", () => {
  const { state, say } = steered();
  translate(state, { type: "result", subtype: "success", session_id: "s" });
  expect(say("started")).toEqual([{ kind: "steered", message_id: ID, how: "next" }]);
});

test("it comes back when claude cancels it", () => {
  expect(steered().say("cancelled")).toEqual([{ kind: "steered", message_id: ID, how: "returned" }]);
});
