// How long a tool took, as the feed of the dashboard says it.
import { expect, test } from "vitest";
import type { ToolEntry } from "../../src/client/view/types.ts";
import { toolTime } from "../../web/src/session/tool-view.ts";

const CALL: ToolEntry = {
  kind: "tool",
  id: "1",
  seq: 1,
  depth: 0,
  tool_use_id: "t",
  name: "Bash",
  title: "ls",
  input: {},
  status: "running",
  at_ms: 1_000,
};

test.each<[string, Partial<ToolEntry>, string]>([
  ["one that runs, since it began", {}, "9.0s"],
  ["one that has ended, until then", { status: "done", ended_at_ms: 3_000 }, "2.0s"],
  [
    "time spent waiting for the user is left out",
    { status: "done", ended_at_ms: 9_000, waited_ms: 7_500 },
    "0.5s",
  ],
  ["also while it runs", { waited_ms: 7_000 }, "2.0s"],
  [
    "one that was refused took no time",
    { status: "not_run", not_run: "declined", ended_at_ms: 9_000 },
    "not run: declined",
  ],
  ["one that waits has not begun", { status: "waiting" }, ""],
])("%s", (_rule, entry, text) => {
  expect(toolTime({ ...CALL, ...entry }, 10_000)).toBe(text);
});
