// The comparison of agents on scripted tasks: what a cache could serve, and a step as a call of each agent's tools.
import { describe, expect, test } from "vitest";

// The scripts are plain JavaScript without declarations, so their modules are loaded by address.
const part = (name: string) => import(new URL(`../../scripts/bench/tasks/${name}.mjs`, import.meta.url).href);

interface Step {
  do: string;
  path: string;
  from: string;
}
interface Task {
  files: Record<string, string>;
  steps: Step[];
}

const { toCall } = await part("calls");
const { isApplied, listTasks } = (await part("list")) as {
  listTasks(): Task[];
  isApplied(step: Step, read: (path: string) => string): boolean;
};
const { weigh } = await part("prefix");

const user = (text: string) => ({ role: "user", content: text });
const chat = (...texts: string[]) => ({ protocol: "chat" as const, body: { messages: texts.map(user) } });
const marked = (texts: string[], mark: number) => ({
  protocol: "anthropic" as const,
  body: {
    messages: texts.map((text, at) => ({
      role: "user",
      content: [{ type: "text", text, ...(at === mark ? { cache_control: { type: "ephemeral" } } : {}) }],
    })),
  },
});

describe("the share that a cache could serve", () => {
  test("is what begins as any earlier request", () => {
    const text = JSON.stringify(user("hello"));
    const { share, tokens } = weigh([chat("hello"), chat("hello", "hello")]);
    expect(share).toBeCloseTo(1 / 3);
    expect(tokens).toBe(Math.round((text.length * 3) / 4));
    expect(weigh([chat("hello")]).share).toBe(0);
  });

  test("of Anthropic ends at a mark, and the mark itself is not part of the text", () => {
    expect(weigh([marked(["a", "b"], 1), marked(["a", "b", "c"], 2)]).share).toBeCloseTo(2 / 5);
    expect(weigh([marked(["a", "b"], 0), marked(["a", "b", "c"], 2)]).share).toBeCloseTo(1 / 5);
    expect(weigh([marked(["a", "b"], 9), marked(["a", "b", "c"], 9)]).share).toBe(0);
  });
});

test("each agent gets a step as a call of its own tools", () => {
  const step = { do: "edit", path: "a.js", from: "old", to: "new" } as const;
  const call = (...names: string[]) => toCall(step, new Set(names), "/p");
  expect(call("read_file", "edit_file", "apply_patch")).toMatchObject({
    name: "edit_file",
    input: { path: "a.js" },
  });
  expect(call("edit", "read")).toMatchObject({ name: "edit", input: { filePath: "/p/a.js" } });
  const patch = "*** Begin Patch\n*** Update File: a.js\n@@\n-old\n+new\n*** End Patch";
  expect(call("apply_patch", "read")).toEqual({ name: "apply_patch", input: { patchText: patch } });
  expect(call("exec_command", "apply_patch")).toEqual({ name: "apply_patch", text: patch });
});

test("every edit of the 20 tasks can be applied, and shows when it is", () => {
  const tasks = listTasks();
  expect(tasks).toHaveLength(20);
  for (const { files, steps } of tasks) {
    for (const step of steps) {
      if (step.do === "edit") expect(files[step.path]).toContain(step.from);
      expect(isApplied(step, (path) => files[path] ?? "")).toBe(!["edit", "write"].includes(step.do));
    }
  }
});
