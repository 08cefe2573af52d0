import { afterEach, beforeEach, expect, test } from "vitest";
import { Translator } from "../../../src/runtime/acp/translate.ts";
import type { RuntimeEvent } from "../../../src/runtime/events.ts";
import { ToolRegistry } from "../../../src/runtime/tools/registry.ts";
import { todoTool } from "../../../src/runtime/tools/todo.ts";
import { Stage } from "../stage.ts";
import { Bench } from "./run-tool.ts";

let bench: Bench;
beforeEach(async () => {
  bench = await Bench.open();
});
afterEach(() => bench.close());

const STEPS = [
  { text: "read", status: "completed" },
  { text: "write", status: "in_progress" },
  { text: "test", status: "pending" },
] as const;

test("the list is shown, and the model reads how far it is", async () => {
  expect(await bench.text(todoTool, { steps: STEPS })).toBe("1 pending, 1 in_progress, 1 completed");
  expect(await bench.text(todoTool, { steps: [] })).toBe("the list is empty");
  expect(bench.plans).toEqual([STEPS, []]);
});

test.each([
  [[{ text: "two\nlines", status: "pending" }], /one line/],
  [[{ text: " ", status: "pending" }], /one line/],
  [[{ text: "x", status: "later" }], /status/],
  [Array.from({ length: 51 }, () => ({ text: "x", status: "pending" })), /50/],
])("%j is refused", (steps, message) => {
  expect(todoTool.check({ steps })).toMatchObject({ ok: false, message: expect.stringMatching(message) });
});

test("the loop emits it as an event, and ACP clients get it as a plan", async () => {
  const stage = new Stage({
    replies: [{ toolCalls: [{ name: "todo", input: { steps: STEPS } }] }, { text: "ok" }],
    tools: [todoTool],
  });
  await stage.run("go");
  const [event] = stage.of("plan.updated");
  expect(event?.steps).toEqual(STEPS);
  const stamped = { ...event, sessionId: "s", agent: "build", ts: 1 } as RuntimeEvent;
  const translator = () => new Translator({ cwd: "/w", tools: new ToolRegistry(), newId: () => "id" });
  expect(translator().translate(stamped)).toEqual([
    {
      method: "session/update",
      update: {
        sessionUpdate: "plan",
        entries: STEPS.map(({ text, status }) => ({ content: text, status, priority: "medium" })),
      },
    },
  ]);
  // The list of a sub-agent is not the user's.
  expect(translator().translate({ ...stamped, agentPath: ["critic"] })).toEqual([]);
});
