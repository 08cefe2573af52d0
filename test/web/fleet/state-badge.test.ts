// Session badges: the labels of all screens, each with an icon, so that no color is needed.
import { describe, expect, test } from "vitest";
import { formatState } from "../../../src/client/view/format.ts";
import { getLook } from "../../../web/src/fleet/state-badge.ts";
import { sessionView } from "../support.ts";

const STATES = ["waiting_permission", "waiting_input", "working", "thinking", "idle", "stopped"] as const;

describe("the badge of a session", () => {
  test.each(STATES)("%s has the same label as in the terminal, also when stalled", (activity_state) => {
    for (const stalled of [false, true]) {
      const session = sessionView("s", { activity_state, stalled });
      expect(getLook(session).word).toBe(formatState(session));
    }
  });

  test("is another sign for each state", () => {
    const icons = STATES.map((activity_state) => getLook(sessionView("s", { activity_state })).icon);
    expect(new Set(icons).size).toBe(STATES.length);
  });

  test("shows a failed turn, unless a newer request is pending", () => {
    for (const activity_state of ["idle", "stopped"] as const)
      expect(getLook(sessionView("s", { activity_state, failed: true }))).toMatchObject({
        word: "failed",
        tone: "bad",
      });
    const asking = sessionView("s", { activity_state: "idle", failed: true, pending_requests: 1 });
    expect(getLook(asking)).toMatchObject({ word: "needs approval", tone: "wait" });
  });

  test("shows an agent that is starting", () => {
    const look = getLook(sessionView("s", { activity_state: "starting" }));
    expect(look).toMatchObject({ word: "starting", tone: "work" });
  });
});
