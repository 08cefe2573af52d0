// What sm resume does to a session, and to which it does nothing.
import { expect, test } from "vitest";
import { describeTodo, planResume } from "../../../src/cli/blemees/resume-plan.ts";
import type { SessionView } from "../../../src/client/index.ts";
import { aView } from "../../client/session-views.ts";

const ended = (subtype: string, code?: string): Partial<SessionView> => ({
  activity_state: "stopped",
  last_result: {
    turn_id: "t",
    subtype,
    ended_at_ms: 1,
    ...(code === undefined ? {} : { error: { code, message: `it was ${code}` } }),
  },
});

test.each<[string, Partial<SessionView>, "message" | "queue" | "none", RegExp]>([
  [
    "cut by a crash",
    { ...ended("error", "backend_crashed"), failed: true },
    "message",
    /^cut: it was backend_crashed/,
  ],
  [
    "cut by a stop of the daemon",
    ended("interrupted", "daemon_shutdown"),
    "message",
    /^cut: it was daemon_shutdown/,
  ],
  ["failed", { ...ended("error", "model_error"), failed: true }, "message", /^failed: it was model_error/],
  ["at its limit of turns", { ...ended("max_turns"), failed: true }, "message", /^failed: max_turns/],
  [
    "held",
    { ...ended("error", "backend_crashed"), held: "not found", queued: 2 },
    "queue",
    /^held: not found/,
  ],
  ["stopped with a queue", { ...ended("success"), stopped_at_ms: 1, queued: 1 }, "queue", /^stopped, with/],
  [
    "stopped on purpose",
    { ...ended("error", "backend_crashed"), stopped_at_ms: 1 },
    "none",
    /on purpose: sm send/,
  ],
  ["interrupted on purpose", ended("interrupted"), "none", /on purpose: sm send/],
  ["done", ended("success"), "none", /succeeded/],
  ["new", { activity_state: "idle" }, "none", /no turn yet/],
  [
    "cut, with messages after it",
    { ...ended("error", "backend_crashed"), failed: true, queued: 1 },
    "none",
    /by itself/,
  ],
  ["asking", { ...ended("error", "backend_crashed"), pending_requests: 1 }, "none", /waits for an answer/],
  ["at work", { turn: { turn_id: "t", started_at_ms: 1 }, activity_state: "working" }, "none", /running/],
  ["given nothing", { ...ended("success"), failed: true }, "none", /could not be delivered; send it again/],
])("a session that is %s", (_what, fields, kind, why) => {
  expect(planResume(aView(fields))).toMatchObject({ kind, why: expect.stringMatching(why) });
});

test("it is said that no message is repeated, and how many are delivered", () => {
  const cut = planResume(aView({ ...ended("error", "backend_crashed"), failed: true }));
  expect(describeTodo(cut)).toBe("ask it to continue; its last message is not repeated");
  const held = planResume(aView({ held: "x", queued: 1 }));
  expect(describeTodo(held)).toBe("deliver 1 queued message; nothing else is sent");
});
