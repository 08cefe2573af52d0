// A tool call's row: why it failed, how long it ran, and which sub-agent speaks.
import { describe, expect, test } from "vitest";
import type { Entry } from "../../../src/client/view/types.ts";
import { pending } from "../../client/request-rows.ts";
import { text, textOf, thinking, tool } from "./entries.ts";

describe("a tool that failed", () => {
  test.each([
    ["Exit code 2\n\nsum.ts: not found\nmore", "sum.ts: not found"],
    ["<tool_use_error>No such tool</tool_use_error>", "No such tool</tool_use_error>"],
    ["```\nhi\n```", "hi"],
  ])("says why in a row, of %j", (output, why) => {
    expect(textOf([tool({ status: "failed", output })])).toBe(`✗ Bash npm test  ✗\n  │ ${why}`);
  });

  test("has no such row where there is nothing to say and where it went well", () => {
    expect(textOf([tool({ status: "failed", output: "\n```\nExit code 1\n" })])).toBe("✗ Bash npm test  ✗");
    expect(textOf([tool({ output: "hi" })])).toBe("● Bash npm test  ✓");
  });

  test.each([
    ["declined", "not run: declined"],
    ["expired", "not run: no answer in time"],
    ["interrupted", "not run: interrupted"],
    ["agent_died", "not run: the agent died"],
  ] as const)("that was asked for and never ran says so, and no time: %s", (not_run, words) => {
    const entry = tool({ status: "not_run", not_run, output: "no", at_ms: 0, ended_at_ms: 9 });
    expect(textOf([entry])).toBe(`⊘ Bash npm test  ${words}`);
  });
});

test("time spent waiting for the user does not count", () => {
  const times = { at_ms: 1_000, ended_at_ms: 63_000, waited_ms: 60_000 };
  expect(textOf([tool(times)])).toBe("● Bash npm test  ✓ 2.0s");
  expect(textOf([tool({ ...times, waited_ms: 90_000 })])).toBe("● Bash npm test  ✓ 0ms");
});

test("a thought that came at once has no time, and its title no stars", () => {
  expect(textOf([thinking("**Looking**\n\nmore", { at_ms: 1, ended_at_ms: 3 })])).toBe("∴ thought  Looking");
});

describe("the speaker", () => {
  const agent = (id: string, name: string): Entry =>
    tool({ id, tool_use_id: id, name: "Task", title: `look at ${name}`, agent: name });
  const said = (id: string, parent: string, fields: object = {}): Entry =>
    text(`says ${id}`, { id, parent, depth: 1, ...fields });

  test("is shown where the speaker changes, and not below its own call", () => {
    const rows = textOf([
      agent("a", "one"),
      said("1", "a"),
      agent("b", "two"),
      said("2", "b"),
      said("3", "a"),
    ]);
    expect(rows.split("\n").filter((row) => row.includes("↳"))).toEqual(["│ ↳ one look at one"]);
    expect(rows).toContain("│ ↳ one look at one\n│   says 3");
  });

  test("nor after the request to start it, nor for an unknown call", () => {
    const request: Entry = {
      ...{ id: "r", seq: 1, depth: 0, kind: "request" },
      request: pending({ item_id: "a" }),
    };
    expect(textOf([agent("a", "one"), request, said("1", "a"), text("x"), said("2", "gone")])).not.toContain(
      "↳",
    );
  });

  test("a name that says it all is not said twice", () => {
    expect(textOf([tool({ name: "spawn_agent", title: "/worker", agent: "/worker" })])).toBe(
      "● spawn_agent /worker  ✓",
    );
  });
});
