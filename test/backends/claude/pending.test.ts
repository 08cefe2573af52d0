import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Pending } from "../../../src/backends/claude/pending.ts";
import type { Place } from "../../../src/backends/claude/requests.ts";
import type { Ask } from "../../../src/backends/types.ts";
import { isObject, type JsonObject } from "../../../src/base/json.ts";
import { type Answer, DECISIONS, RequestPayload } from "../../../src/protocol/requests.ts";
import { openPending } from "./pending-channel.ts";

const settings = { userSettings: "/u", projectSettings: "/p", localSettings: "/l", gitIgnore: "/g" };
const PLACE: Place = {
  cwd: "/cwd",
  configDir: "/config",
  settings,
  disk: { exists: () => false, readText: () => undefined },
};

interface Heard {
  asks: Ask[];
  withdrawn: string[];
  /** The `response` of every line that claude was sent. */
  replies: JsonObject[];
}

function listen({ isSilent = false } = {}): Heard & { pending: Pending; take(frame: JsonObject): void } {
  const heard: Heard = { asks: [], withdrawn: [], replies: [] };
  const opened = openPending({
    place: isSilent ? undefined : () => PLACE,
    ask: (ask) => heard.asks.push(ask),
    withdrawn: (id) => heard.withdrawn.push(id),
    write: async (line) => void heard.replies.push(JSON.parse(line).response),
  });
  return { ...heard, ...opened };
}

const bash = (request_id: string, more: object = {}) => ({
  type: "control_request",
  request_id,
  request: {
    subtype: "can_use_tool",
    tool_name: "Bash",
    input: { command: "ls" },
    tool_use_id: "t",
    ...more,
  },
});

/** Close to what claude sends, with anything anywhere. */
const junk = fc.jsonValue({ maxDepth: 3 });
const maybe = <T>(likely: fc.Arbitrary<T>) => fc.oneof({ weight: 4, arbitrary: likely }, junk);
const tool = fc.constantFrom(
  "Bash",
  "Edit",
  "MultiEdit",
  "Write",
  "NotebookEdit",
  "ExitPlanMode",
  "AskUserQuestion",
  "x",
);
const input = fc.record(
  {
    command: maybe(fc.string()),
    file_path: maybe(fc.string()),
    old_string: maybe(fc.string()),
    new_string: maybe(fc.string()),
    content: maybe(fc.string()),
    edits: maybe(fc.array(fc.record({ old_string: fc.string(), new_string: fc.string() }))),
    notebook_path: maybe(fc.string()),
    plan: maybe(fc.string()),
    questions: maybe(fc.array(fc.record({ question: maybe(fc.string()), options: maybe(fc.array(junk)) }))),
  },
  { requiredKeys: [] },
);
const suggestion = fc.record(
  {
    type: maybe(fc.constantFrom("addRules", "replaceRules", "removeRules", "addDirectories", "setMode")),
    rules: maybe(fc.array(fc.record({ toolName: maybe(fc.string()), ruleContent: maybe(fc.string()) }))),
    behavior: maybe(fc.constantFrom("allow", "deny", "ask")),
    destination: maybe(fc.constantFrom("localSettings", "userSettings", "projectSettings", "session")),
    directories: maybe(fc.array(fc.string())),
    mode: maybe(fc.string()),
  },
  { requiredKeys: [] },
);
const body = fc.record(
  {
    subtype: maybe(fc.constantFrom("can_use_tool", "elicitation", "frobnicate")),
    tool_name: maybe(tool),
    input: maybe(input),
    permission_suggestions: maybe(fc.array(suggestion)),
    description: junk,
    decision_reason: junk,
    agent_id: junk,
    tool_use_id: junk,
  },
  { requiredKeys: [] },
);
const answers: fc.Arbitrary<Answer> = fc.oneof(
  fc.record(
    {
      decision: fc.constantFrom(...DECISIONS),
      message: fc.string(),
      updated_input: fc.dictionary(fc.string(), junk),
    },
    { requiredKeys: ["decision"] },
  ),
  fc.record({ answers: fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.array(fc.string()))) }),
);

describe("what claude asks", () => {
  test("whatever it asks is answered at once or shown in a valid shape, and one answer ends it", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), maybe(body), answers, async (request_id, request, answer) => {
        const { pending, take, asks, replies } = listen();
        take({ type: "control_request", request_id, request });
        expect(asks.length + replies.length).toBe(1);
        if (asks.length === 1) {
          expect(RequestPayload.safeParse(asks[0]?.payload).error).toBeUndefined();
          expect(await pending.answer(request_id, answer)).toBe(true);
          expect(await pending.answer(request_id, answer)).toBe(false);
        }
        expect(replies).toHaveLength(1);
        expect(replies[0]).toMatchObject({ request_id });
        const response = replies[0]?.["response"];
        const isRefusal = "answers" in answer ? false : ["decline", "cancel"].includes(answer.decision);
        if (isRefusal && isObject(response)) expect(response["behavior"]).toBe("deny");
      }),
      { numRuns: 2000 },
    );
  });

  test("any other frame can be seen without harm", () => {
    fc.assert(
      fc.property(
        fc.record({
          type: fc.constantFrom("system", "assistant"),
          message: junk,
          task_id: junk,
          subtype: junk,
          parent_tool_use_id: junk,
        }),
        (frame) => {
          listen().pending.see(frame);
        },
      ),
    );
  });

  test("a request without an id cannot be answered", () => {
    const { take, asks, replies } = listen();
    take({ type: "control_request", request: { subtype: "can_use_tool" } });
    expect([asks, replies]).toEqual([[], []]);
  });

  test.each([
    ["in a session that does not want to be asked", bash("r"), "unsupported control request: can_use_tool"],
    ["of an unknown kind", bash("r", { subtype: "odd" }), "unsupported control request: odd"],
    ["without a tool", bash("r", { tool_name: 7 }), "malformed control request: can_use_tool"],
    ["with a broken input", bash("r", { input: [] }), "malformed control request: can_use_tool"],
  ] as const)("a request %s is refused, so that claude does not wait", (name, frame, error) => {
    const { take, asks, replies } = listen({ isSilent: name.startsWith("in a session") });
    take(frame);
    expect(asks).toEqual([]);
    expect(replies).toEqual([{ subtype: "error", request_id: "r", error }]);
  });

  test("a request that arrives twice is asked once", () => {
    const { take, asks } = listen();
    take(bash("r"));
    take(bash("r"));
    expect(asks).toHaveLength(1);
  });
});

describe("what claude takes back", () => {
  test("is withdrawn once and can no longer be answered; unknown ids are ignored", async () => {
    const { pending, take, withdrawn, replies } = listen();
    take(bash("r"));
    for (const request_id of ["other", "r", "r", 7]) take({ type: "control_cancel_request", request_id });
    expect(withdrawn).toEqual(["r"]);
    expect(await pending.answer("r", { decision: "accept" })).toBe(false);
    expect(replies).toEqual([]);
  });

  test("what an interrupt leaves open is withdrawn, and refused so that no sub-agent waits forever", () => {
    const { pending, take, withdrawn, replies } = listen();
    take(bash("a"));
    take(bash("b"));
    pending.withdrawAll("interrupted");
    expect(withdrawn).toEqual(["a", "b"]);
    expect(replies).toMatchObject([
      { subtype: "error", request_id: "a" },
      { subtype: "error", request_id: "b" },
    ]);
  });

  test("after its end nothing is asked and nothing can be answered", async () => {
    const { pending, take, asks } = listen();
    take(bash("a"));
    pending.close();
    take(bash("b"));
    expect(asks.map((ask) => ask.native_id)).toEqual(["a"]);
    expect(await pending.answer("a", { decision: "accept" })).toBe(false);
  });

  test("a write that fails is not taken for an answer, nor for one that claude does not wait for", async () => {
    const parts = { place: () => PLACE, ask: () => undefined, withdrawn: () => undefined };
    const { pending, take } = openPending({ ...parts, write: () => Promise.reject(new Error("EPIPE")) });
    take(bash("a"));
    await expect(pending.answer("a", { decision: "accept" })).rejects.toThrow("EPIPE");
  });
});

describe("the asking sub-agent", () => {
  const started = (task_id: string, tool_use_id: string, subagent_type: string) => ({
    type: "system",
    subtype: "task_started",
    task_type: "local_agent",
    task_id,
    tool_use_id,
    subagent_type,
  });
  const calls = (id: string, parent_tool_use_id: string | null) => ({
    type: "assistant",
    parent_tool_use_id,
    message: { content: [{ type: "tool_use", id, name: "Agent" }] },
  });

  test("a sub-agent that we do not know goes by its id", () => {
    const { take, asks } = listen();
    take(bash("r", { agent_id: "a1" }));
    expect(asks[0]?.path).toEqual(["a1"]);
  });

  test("the path begins at the root", () => {
    const { pending, take, asks } = listen();
    const frames = [
      calls("c1", null),
      started("a1", "c1", "one"),
      started("a2", "c2", "two"),
      calls("c2", "c1"),
    ];
    for (const frame of [...frames, started("a3", "c3", "three"), calls("c3", "c2")]) pending.see(frame);
    take(bash("r", { agent_id: "a3" }));
    expect(asks[0]?.path).toEqual(["one", "two", "three"]);
  });

  test("sub-agents that claim to be each other's parents are no trap", () => {
    const { pending, take, asks } = listen();
    for (const frame of [started("a1", "c1", "one"), calls("c1", "c1")]) pending.see(frame);
    take(bash("r", { agent_id: "a1" }));
    expect(asks[0]?.path?.at(-1)).toBe("one");
  });

  test("the directory is the last one that claude named", () => {
    const { pending, take, asks } = listen();
    pending.see({ type: "system", subtype: "init", cwd: "/elsewhere" });
    take(bash("r"));
    expect(asks[0]?.payload.cwd).toBe("/elsewhere");
  });
});
