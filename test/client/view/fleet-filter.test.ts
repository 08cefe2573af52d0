// Filters of the session list, as people type them.
import { expect, test } from "vitest";
import {
  fitsFilter,
  isInState,
  parseFleetFilter,
  STATE_FILTERS,
} from "../../../src/client/view/fleet-filter.ts";
import { aView } from "../session-views.ts";

const NOW = 100 * 86_400_000;
const DAY = 86_400_000;
const aged = (days: number) => ({ last_active_at_ms: NOW - days * DAY });
const VIEWS = [
  aView({ session_id: "waits", pending_requests: 1, activity_state: "waiting_permission", ...aged(0) }),
  aView({
    ...{ session_id: "works", activity_state: "thinking", turn: { turn_id: "t", started_at_ms: 1 } },
    ...{ labels: ["bug", "ui"], project: "/w/shop", ...aged(0) },
  }),
  aView({ session_id: "broke", failed: true, activity_state: "idle", cost_usd: 3, ...aged(2) }),
  aView({ session_id: "rests", activity_state: "idle", labels: ["bug"], provider: "codex-app", ...aged(8) }),
  aView({ session_id: "ended", activity_state: "stopped", archived_at_ms: 5, cost_usd: 0.5, ...aged(30) }),
];

const found = (text: string): string =>
  VIEWS.filter((session) => fitsFilter({ session }, parseFleetFilter(text), NOW))
    .map(({ session_id }) => session_id)
    .join(" ");

test.each([
  ["", "waits works broke rests ended"],
  ["is:waiting", "waits"],
  ["is:working", "works"],
  ["is:failed", "broke"],
  ["is:failed is:idle", "broke rests"],
  ["is:archived", "ended"],
  ["#bug", "works rests"],
  ["#bug label:ui", "works"],
  ["project:shop", "works"],
  ["project:/w/shop", "works"],
  ["project:hop", ""],
  ["agent:codex-app", "rests"],
  ["age>7d", "rests ended"],
  ["age<1h", "waits works"],
  ["cost>1", "broke"],
  ["cost:>0.5", "broke ended"],
  ["REST", "rests"],
  ["failed", "broke"],
  ["bug #bug", "works rests"],
  // Not terms: words.
  ["is:sleepy", ""],
  ["age>soon", ""],
  ["cost>5d", ""],
])("%j", (text, ids) => {
  expect(found(text)).toBe(ids);
});

test("a session is in exactly one state, except that the others leave out only what needs attention", () => {
  for (const session of VIEWS)
    expect(STATE_FILTERS.filter((state) => isInState(session, state))).toHaveLength(1);
});
