// Between what Claude Code asks before a tool and our decision.
import { describe, expect, test } from "vitest";
import type { EventBody } from "../../../../src/runtime/events.ts";
import { SILENT_TOOLS, ToolBridge } from "../../../../src/runtime/external/claude-code/can-use-tool.ts";
import { Translation } from "../../../../src/runtime/external/claude-code/translate.ts";
import type { ExternalCall, ExternalDecision, ExternalTurn } from "../../../../src/runtime/external/types.ts";

interface Options {
  mode?: "default" | "plan";
  decide?: (call: ExternalCall, signal: AbortSignal) => Promise<ExternalDecision>;
  question?: ExternalTurn["question"];
}

function stage({ mode = "default", decide, question }: Options = {}) {
  const events: EventBody[] = [];
  const calls: ExternalCall[] = [];
  const abort = new AbortController();
  const translation = new Translation({ provider: "claudecode", silentTools: SILENT_TOOLS, now: () => 0 });
  const bridge = new ToolBridge({
    turn: {
      signal: abort.signal,
      emit: (event) => void events.push(event),
      decide: (call, signal) => {
        calls.push(call);
        return decide?.(call, signal) ?? Promise.resolve({ allowed: true });
      },
      ...(question === undefined ? {} : { question }),
    },
    translation,
    permissionMode: mode,
    env: { HOME: "/home/user" },
  });
  let count = 0;
  const ask = (tool: string, input: Record<string, unknown> = {}, more: { agentId?: string } = {}) => {
    count += 1;
    return bridge.canUseTool({ callId: `toolu_${count}`, tool, input, ...more }, abort.signal);
  };
  return { ask, events, calls, abort, bridge, translation, types: () => events.map(({ type }) => type) };
}

describe("a tool", () => {
  test("that is allowed runs with the judged input, and is reported as started", async () => {
    const shown = { title: "Read: a" };
    const { ask, events, types } = stage({
      decide: () => Promise.resolve({ allowed: true, input: { file_path: "/project/a" }, shown }),
    });
    expect(await ask("Read", { file_path: "a" })).toEqual({
      behavior: "allow",
      updatedInput: { file_path: "/project/a" },
    });
    expect(types()).toEqual(["tool.requested", "tool.started"]);
    expect(events[1]).toMatchObject({ title: "Read: a", qualifiedName: "claudecode.Read" });
  });

  test("that is refused is answered with the reason, and reported as denied when Claude Code says so", async () => {
    const { ask, translation } = stage({ decide: () => Promise.resolve({ allowed: false, reason: "no" }) });
    expect(await ask("Bash")).toEqual({ behavior: "deny", message: "no" });
    const content = [{ type: "tool_result", tool_use_id: "toolu_1", is_error: true, content: "no" }];
    expect(translation.take({ type: "user", message: { content } })).toMatchObject([{ reason: "denied" }]);
  });

  test("that is refused for good ends the turn and everything queued", async () => {
    const { ask, bridge, calls } = stage({ decide: () => Promise.resolve({ allowed: false, stop: true }) });
    const [first, second] = await Promise.all([ask("Bash"), ask("Write")]);
    expect(first).toMatchObject({ behavior: "deny", interrupt: true });
    expect(second).toMatchObject({ behavior: "deny", interrupt: true });
    expect(bridge.isStopped).toBe(true);
    expect(calls).toHaveLength(1);
  });

  test("waits until the one before it was decided", async () => {
    const order: string[] = [];
    const { ask } = stage({
      decide: async ({ tool }) => {
        order.push(`${tool} asked`);
        await new Promise((resolve) => setImmediate(resolve));
        order.push(`${tool} answered`);
        return { allowed: true };
      },
    });
    await Promise.all([ask("Bash"), ask("Write")]);
    expect(order).toEqual(["Bash asked", "Bash answered", "Write asked", "Write answered"]);
  });

  test("of a turn that was aborted is not even asked about", async () => {
    const { ask, abort, calls } = stage();
    abort.abort();
    expect(await ask("Bash")).toMatchObject({ behavior: "deny", interrupt: true });
    expect(calls).toEqual([]);
  });

  test("that cannot be decided is refused", async () => {
    const { ask } = stage({ decide: () => Promise.reject(new Error("broken")) });
    expect(await ask("Bash")).toMatchObject({ behavior: "deny", message: expect.stringMatching(/broken/) });
    expect(await ask("Bash")).toMatchObject({ behavior: "deny" });
  });

  test("of its own sub-agent names that sub-agent", async () => {
    const { ask, calls, translation } = stage();
    translation.take({ type: "system", subtype: "task_started", task_id: "a1", subagent_type: "Explore" });
    await ask("Bash", {}, { agentId: "a1" });
    expect(calls).toMatchObject([{ agentPath: ["Explore"] }]);
  });
});

describe("a plan", () => {
  test("is taken, and Claude Code goes no further", async () => {
    const { ask, bridge, types } = stage({ mode: "plan" });
    expect(await ask("ExitPlanMode", { plan: "1. one" })).toMatchObject({
      behavior: "deny",
      interrupt: true,
    });
    expect(bridge.plan).toBe("1. one");
    expect(types()).toEqual([]);
  });

  test("that is empty is asked for again", async () => {
    const { ask, bridge } = stage({ mode: "plan" });
    expect(await ask("ExitPlanMode", {})).not.toHaveProperty("interrupt");
    expect(bridge.plan).toBeUndefined();
  });

  test("may read, and write nothing but itself", async () => {
    const { ask, calls } = stage({ mode: "plan" });
    const plan = "/home/user/.claude/plans/a-plan.md";
    expect(await ask("Read", { file_path: "a" })).toMatchObject({ behavior: "allow" });
    expect(await ask("Write", { file_path: plan, content: "x" })).toMatchObject({ behavior: "allow" });
    expect(calls.map(({ tool }) => tool)).toEqual(["Read"]);
    for (const [tool, input] of [
      ["Bash", { command: "ls" }],
      ["Write", { file_path: "a" }],
      ["Write", { file_path: "/home/user/.claude/plans/../settings.json" }],
      ["Write", { file_path: "/home/user/.claude/plans/x/../../a.md" }],
      ["Edit", { file_path: "/home/user/.claude/a.md" }],
      ["WebFetch", {}],
      ["Unknown", {}],
    ] as const) {
      expect(await ask(tool, input)).toMatchObject({ behavior: "deny" });
    }
    expect(calls).toHaveLength(1);
  });

  test("is nothing special where none was wanted", async () => {
    const { ask, calls, bridge } = stage();
    await ask("ExitPlanMode", { plan: "1. one" });
    expect(calls).toHaveLength(1);
    expect(bridge.plan).toBeUndefined();
  });
});

describe("a question", () => {
  const questions = [
    { question: "Which?", options: [{ label: "A" }, { label: "B" }] },
    { question: "What else?", multiSelect: true, options: [] },
  ];

  test("goes to the user, and the answers go back with it", async () => {
    const { ask } = stage({ question: ({ text }) => Promise.resolve(`re: ${text}`) });
    expect(await ask("AskUserQuestion", { questions })).toEqual({
      behavior: "allow",
      updatedInput: {
        questions,
        answers: { "Which?": "re: Which?", "What else?": expect.stringMatching(/^re: What else\?/) },
      },
    });
  });

  test.each([
    ["no answer", { questions }, () => Promise.resolve(undefined)],
    ["no one to ask", { questions }, undefined],
    ["it is none", { questions: "?" }, () => Promise.resolve("x")],
  ])("is refused where %s", async (_when, input, question) => {
    const { ask, calls } = stage(question === undefined ? {} : { question });
    expect(await ask("AskUserQuestion", input)).toMatchObject({ behavior: "deny" });
    expect(calls).toEqual([]);
  });
});
