// Formatted times, counts and costs.
import { expect, test } from "vitest";
import {
  formatAge,
  formatCost,
  formatDuration,
  formatNotice,
  formatNoticeRow,
  formatState,
  formatTokens,
  formatTool,
  getSessionName,
} from "../../../src/client/view/format.ts";
import { aView } from "../session-views.ts";

test.each([
  [-5, "0s"],
  [3_400, "3s"],
  [12 * 60_000, "12m"],
  [5.9 * 3_600_000, "5h"],
  [50 * 3_600_000, "2d"],
])("an age of %d ms is %s", (ms, text) => expect(formatAge(ms)).toBe(text));

test.each([
  [80, "80ms"],
  [1_500, "1.5s"],
  [9_949, "9.9s"],
  [9_960, "10s"],
  [42_400, "42s"],
  [59_700, "1m 00s"],
  [123_000, "2m 03s"],
  [3_900_000, "1h 05m"],
])("a duration of %d ms is %s", (ms, text) => expect(formatDuration(ms)).toBe(text));

test.each([
  [950, "950"],
  [1_000, "1k"],
  [12_345, "12.3k"],
  [99_949, "99.9k"],
  [99_951, "100k"],
  [999_600, "1M"],
  [1_234_567, "1.2M"],
])("%d tokens are %s", (count, text) => expect(formatTokens(count)).toBe(text));

test.each([
  [0, "$0.00"],
  [0.0001, "<$0.01"],
  [0.123, "$0.12"],
  [12, "$12.00"],
])("%d dollars are %s", (usd, text) => expect(formatCost(usd)).toBe(text));

test.each([
  [{ activity_state: "waiting_permission", pending_requests: 1 }, "needs approval"],
  [{ activity_state: "working", pending_requests: 1 }, "needs approval"],
  [{ activity_state: "thinking", stalled: true }, "stalled"],
  [{ activity_state: "idle", held: "no room" }, "held"],
  [{ activity_state: "idle", failed: true }, "failed"],
  [{ activity_state: "stopped", failed: true, held: "no room" }, "failed"],
  [{ activity_state: "waiting_permission", failed: true, pending_requests: 1 }, "needs approval"],
  [{ activity_state: "starting" }, "starting"],
  [{ activity_state: "waiting_input", pending_requests: 1 }, "has a question"],
] as const)("a session with %j is %s", (fields, text) => expect(formatState(aView(fields))).toBe(text));

test("a session is called by its name, else its title, else its id", () => {
  expect(getSessionName(aView({ name: "n", title: "t" }))).toBe("n");
  expect(getSessionName(aView({ title: "t" }))).toBe("t");
  expect(getSessionName(aView({ session_id: "0123456789" }))).toBe("01234567");
});

test.each([
  [{ category: "rate_limits", text: "slow" }, "rate_limits: slow"],
  [{ category: "local", text: "done" }, "done"],
  [{ category: "blemeesd.stderr", text: "x" }, "agent: x"],
  [{ category: "blemeesd.error", text: "code: x" }, "code: x"],
])("the notice %j is shown as %j", (notice, text) => expect(formatNotice(notice)).toBe(text));

test("the row of a notice shows what its style does not", () => {
  const said = ["subagent_started", "subagent_finished", "blemeesd.stderr", "agent_notice"].map((category) =>
    formatNoticeRow({ category, text: "x" }),
  );
  expect(said).toEqual(["started x", "ended x", "agent: x", "x"]);
});

test("a tool is named with its subject", () => {
  expect(formatTool({ name: "Bash", title: "ls" })).toBe("Bash: ls");
  expect(formatTool({ name: "ping", title: "" })).toBe("ping");
  expect(formatTool({ name: "Task", title: "look", agent: "explorer" })).toBe("Task explorer: look");
  expect(formatTool({ name: "spawn_agent", title: "/w", agent: "/w" })).toBe("spawn_agent: /w");
});
