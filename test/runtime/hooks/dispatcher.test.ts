import { describe, expect, test } from "vitest";
import { createHookDispatcher } from "../../../src/runtime/hooks/dispatcher.ts";
import type { Hook, HookEvent, HookInput, HookResult } from "../../../src/runtime/hooks/types.ts";

const never = new AbortController().signal;
const input = (event: HookEvent, over: Partial<HookInput> = {}): HookInput => ({
  event,
  sessionId: "s",
  agent: "build",
  cwd: "/w",
  ...over,
});
const PRE = input("PreToolUse", { callId: "c", toolName: "bash", toolInput: { command: "ls" } });

function hook(
  name: string,
  run: (input: HookInput, signal: AbortSignal) => HookResult | Promise<HookResult>,
  over: Partial<Hook> = {},
): Hook {
  return {
    name,
    event: "PreToolUse",
    kind: "command",
    onError: "warn",
    run: async (one, signal) => run(one, signal),
    ...over,
  };
}

function stage(hooks: Hook[]) {
  const told: unknown[] = [];
  const dispatcher = createHookDispatcher({
    hooks,
    onFired: (one) => told.push(one),
    onFailed: (one) => told.push(one),
  });
  return { dispatcher, told };
}

describe("the chain", () => {
  test("built-in hooks run first, then the others in their order", async () => {
    const order: string[] = [];
    const note = (name: string, over: Partial<Hook> = {}) =>
      hook(
        name,
        () => {
          order.push(name);
          return {};
        },
        over,
      );
    const { dispatcher } = stage([note("b"), note("a"), note("inside", { kind: "builtin" })]);
    expect(await dispatcher.dispatch(PRE, never)).toEqual({ blocked: false, warnings: [] });
    expect(order).toEqual(["inside", "b", "a"]);
  });

  test("each hook gets what the one before made of the input, and the last is what counts", async () => {
    const add = (word: string) =>
      hook(word, ({ toolInput }) => ({
        patch: { command: `${(toolInput as { command: string }).command} ${word}` },
      }));
    const { dispatcher } = stage([add("one"), add("two")]);
    expect(await dispatcher.dispatch(PRE, never)).toMatchObject({ patch: { command: "ls one two" } });
  });

  test("block stops the chain and gives its reason; warn continues", async () => {
    const warn = hook("slow", () => ({ decision: "warn", message: "may take a while" }));
    const block = hook("no", () => ({ decision: "block", message: "not here", patch: { command: "evil" } }));
    const late = hook("late", () => Promise.reject(new Error("must not run")));
    const { dispatcher, told } = stage([warn, block, late]);
    expect(await dispatcher.dispatch(PRE, never)).toEqual({
      blocked: true,
      reason: "not here",
      warnings: ["may take a while"],
    });
    expect(told).toEqual([
      { hook: "slow", event: "PreToolUse", decision: "warn", message: "may take a while", callId: "c" },
      { hook: "no", event: "PreToolUse", decision: "block", message: "not here", callId: "c" },
    ]);
  });

  test("what several hooks add to the system prompt is put together", async () => {
    const add = (text: string) => hook(text, () => ({ patch: { system: text } }), { event: "SessionStart" });
    const { dispatcher } = stage([add("one"), add("two")]);
    expect(await dispatcher.dispatch(input("SessionStart"), never)).toMatchObject({
      patch: { system: "one\n\ntwo" },
    });
  });

  test.each([
    ["UserPromptSubmit", { prompt: "b" }, { prompt: "b" }],
    ["AfterModelResponse", { text: "b", more: 1 }, { text: "b" }],
    ["PostToolUse", { content: "b" }, { content: "b" }],
    ["Stop", { anything: 1 }, undefined],
    ["PermissionRequest", { decision: "allow" }, undefined],
  ] as const)("%s takes its own patch and no other", async (event, patch, expected) => {
    const { dispatcher } = stage([hook("x", () => ({ patch }), { event })]);
    expect((await dispatcher.dispatch(input(event), never)).patch).toEqual(expected);
  });

  test("a patch of the wrong shape is a failure of the hook", async () => {
    const { dispatcher, told } = stage([
      hook("x", () => ({ patch: { wrong: 1 } }), { event: "UserPromptSubmit" }),
    ]);
    expect(await dispatcher.dispatch(input("UserPromptSubmit"), never)).toEqual({
      blocked: false,
      warnings: ['the hook x failed: its patch has no string "prompt"'],
    });
    expect(told).toMatchObject([{ hook: "x", blocked: false }]);
  });
});

describe("what a hook is about", () => {
  const fires = async (match: Hook["match"], over: Partial<HookInput> = {}) => {
    const { dispatcher, told } = stage([hook("x", () => ({}), match === undefined ? {} : { match })]);
    await dispatcher.dispatch({ ...PRE, ...over }, never);
    return told.length === 1;
  };

  test.each([
    [undefined, true],
    [{ tool: "bash" }, true],
    [{ tool: "demian.bash" }, true],
    [{ tool: "*.bash" }, true],
    [{ tool: "*" }, true],
    [{ tool: "edit_file | bash" }, true],
    [{ tool: "edit_file" }, false],
    [{ tool: "" }, false],
    [{ tool: "claudecode.bash" }, false],
    [{ tool: "bash", agent: "plan" }, false],
    [{ agent: "plan|build" }, true],
  ] as const)("%j fires for bash of build: %s", async (match, expected) => {
    expect(await fires(match)).toBe(expected);
  });

  test.each([
    [{ agent: "reviewer" }, true],
    [{ agent: "build" }, false],
    [{ agent: "*" }, true],
  ])("%j fires for bash of the sub-agent reviewer below build: %s", async (match, expected) => {
    expect(await fires(match, { agent: "reviewer", agentPath: ["reviewer"] })).toBe(expected);
  });

  test("another event does not fire it", async () => {
    expect(await fires(undefined, { event: "PostToolUse" })).toBe(false);
  });
});

describe("a hook that fails", () => {
  const broken = () => Promise.reject(new Error("broken"));

  test("is a warning, and the others continue", async () => {
    const { dispatcher, told } = stage([hook("x", broken), hook("y", () => ({ patch: { command: "new" } }))]);
    expect(await dispatcher.dispatch(PRE, never)).toEqual({
      blocked: false,
      warnings: ["the hook x failed: broken"],
      patch: { command: "new" },
    });
    expect(told[0]).toEqual({
      hook: "x",
      event: "PreToolUse",
      message: "broken",
      blocked: false,
      callId: "c",
    });
  });

  test.each([
    ["a gate", { onError: "block" }],
    ["a built-in one", { kind: "builtin" }],
  ] as const)("blocks when it is %s", async (_name, over) => {
    const { dispatcher, told } = stage([hook("x", broken, over)]);
    expect(await dispatcher.dispatch(PRE, never)).toEqual({
      blocked: true,
      reason: "the hook x failed: broken",
      warnings: [],
    });
    expect(told).toMatchObject([{ message: "broken", blocked: true }]);
  });

  test("is one that takes too long, and it is aborted", async () => {
    let signal: AbortSignal | undefined;
    const slow = (_input: HookInput, given: AbortSignal) => {
      signal = given;
      return new Promise<HookResult>(() => undefined);
    };
    const { dispatcher } = stage([hook("x", slow, { timeoutMs: 5, onError: "block" })]);
    expect(await dispatcher.dispatch(PRE, never)).toMatchObject({
      blocked: true,
      reason: "the hook x failed: it took longer than 5 ms",
    });
    expect(signal?.aborted).toBe(true);
  });

  test("an abort ends the chain at once, and nothing it guards happens", async () => {
    const control = new AbortController();
    const slow = () => {
      control.abort();
      return new Promise<HookResult>(() => undefined);
    };
    const { dispatcher, told } = stage([hook("x", slow), hook("y", () => ({}))]);
    expect(await dispatcher.dispatch(PRE, control.signal)).toEqual({
      blocked: true,
      reason: "aborted",
      warnings: [],
    });
    expect(told).toEqual([]);
  });
});
