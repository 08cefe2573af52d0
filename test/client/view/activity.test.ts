// What the agent does right now, from the entries of its turn.
import { expect, test } from "vitest";
import { describeActivity } from "../../../src/client/view/activity.ts";
import type { Entry, View } from "../../../src/client/view/types.ts";
import { emptyView } from "../../../src/client/view.ts";
import { pending } from "../request-rows.ts";

const COMMON = { seq: 1, depth: 0, at_ms: 5_000 };
const TOOL: Entry = {
  ...COMMON,
  kind: "tool",
  id: "t1",
  tool_use_id: "t1",
  name: "Bash",
  title: "npm test",
  input: {},
  status: "running",
};
const TEXT: Entry = { ...COMMON, kind: "text", id: "x1", text: "Hello", isOpen: true };
const THINKING: Entry = { ...COMMON, kind: "thinking", id: "x2", text: "…", isOpen: true };

function during(entries: readonly Entry[], more: Partial<View> = {}): ReturnType<typeof describeActivity> {
  return describeActivity({ ...emptyView(), turn: { started_at_ms: 1_000 }, entries, ...more });
}

test("the newest open entry says it", () => {
  expect(during([TOOL])).toEqual({ words: "running", what: "Bash: npm test", since_ms: 5_000 });
  expect(during([{ ...TOOL, status: "done" }, THINKING])).toEqual({ words: "thinking", since_ms: 5_000 });
  expect(during([TOOL, TEXT])).toMatchObject({ words: "writing" });
});

test("with nothing open the agent is waited for, since the turn began", () => {
  const ended: Entry[] = [
    { ...TOOL, status: "done" },
    { ...TEXT, isOpen: false },
  ];
  expect(during(ended)).toEqual({ words: "waiting for the agent", since_ms: 1_000 });
});

test("nothing is said between turns, or while the user is waited for", () => {
  expect(describeActivity({ ...emptyView(), entries: [TOOL] })).toBeUndefined();
  expect(during([TOOL], { requests: [pending()] })).toBeUndefined();
});
