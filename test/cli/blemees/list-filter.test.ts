// Flags of `sm all` → the filter that the daemon gets.
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { FILTERS, readFilter, readOutsideFilter } from "../../../src/cli/blemees/list-filter.ts";
import { parseArguments } from "../../../src/cli/command.ts";

const NOW = 10 * 604_800_000;
const filter = (...argv: string[]) => readFilter(parseArguments(argv, FILTERS), NOW);
const outside = (...argv: string[]) => readOutsideFilter(parseArguments(argv, FILTERS), NOW);

test("without flags: all that are not archived", () => {
  expect(filter()).toEqual({ archived: false });
  expect(filter("--archived")).toEqual({ archived: true });
});

test.each([
  [["--waiting"], { state: ["waiting_input", "waiting_permission"] }],
  [["--failed", "--state", "idle,failed"], { state: ["idle", "failed"] }],
  [["--working"], { state: ["starting", "working", "thinking"] }],
  [["--agent", "codex-app"], { backend: "codex" }],
  [["--label", "a", "--label", "b"], { labels: ["a", "b"] }],
  [["--newer", "2w"], { active_after_ms: NOW - 2 * 604_800_000 }],
  [["--older", "30m"], { active_before_ms: NOW - 1_800_000 }],
  [["--min-cost", "0.5"], { min_cost_usd: 0.5 }],
  [["--project", "app"], { project: "app" }],
  [["--project", "."], { project: resolve(".") }],
  [["--project", "../x"], { project: resolve("../x") }],
] as const)("%j", (argv, wanted) => {
  expect(filter(...argv)).toEqual({ archived: false, ...wanted });
});

test.each([
  [["--newer", "soon"], "an age such as 30m"],
  [["--older", "0d"], "an age such as 30m"],
  [["--state", "wating"], "unknown state"],
  [["--min-cost", "-1"], "--min-cost must be"],
  [["--limit", "0"], "--limit must be"],
])("%j is refused", (argv, message) => {
  expect(() => filter(...argv)).toThrow(message);
});

test("sessions that were started outside have some of them", () => {
  expect(outside("--agent", "claude", "--project", "app", "--newer", "1h", "--limit", "5")).toEqual({
    agent: "claude",
    project: "app",
    active_after_ms: NOW - 3_600_000,
    limit: 5,
  });
  for (const argv of [["--waiting"], ["--label", "x"], ["--archived"], ["--min-cost", "1"]])
    expect(() => outside(...argv)).toThrow("does not go with --outside");
});
