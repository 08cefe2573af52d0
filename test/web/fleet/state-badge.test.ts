// The badges of sessions: in the words of all screens, each with a sign, so that no colour is needed.
import { describe, expect, test } from "vitest";
import { stateText } from "../../../src/client/view/words.ts";
import { lookOf } from "../../../web/src/fleet/state-badge.ts";
import { sessionView } from "../support.ts";

const STATES = ["waiting_permission", "waiting_input", "working", "thinking", "idle", "stopped"] as const;

describe("the badge of a session", () => {
  test.each(STATES)("%s has the words that the terminal has, too when it is stalled", (activity_state) => {
    for (const stalled of [false, true]) {
      const session = sessionView("s", { activity_state, stalled });
      expect(lookOf(session).word).toBe(stateText(session));
    }
  });

  test("is another sign for each state", () => {
    const icons = STATES.map((activity_state) => lookOf(sessionView("s", { activity_state })).icon);
    expect(new Set(icons).size).toBe(STATES.length);
  });

  test("tells of a turn that failed, unless something newer is asked", () => {
    for (const activity_state of ["idle", "stopped"] as const)
      expect(lookOf(sessionView("s", { activity_state, failed: true }))).toMatchObject({
        word: "failed",
        tone: "bad",
      });
    const asking = sessionView("s", { activity_state: "idle", failed: true, pending_requests: 1 });
    expect(lookOf(asking)).toMatchObject({ word: "idle, asks", tone: "wait" });
  });

  test("tells of an agent that is starting", () => {
    const look = lookOf(sessionView("s", { activity_state: "starting" }));
    expect(look).toMatchObject({ word: "starting", tone: "work" });
  });
});
