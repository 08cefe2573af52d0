// The runtime's requests in the session core: complete, answerable once, withdrawn with their turn.
import { describe, expect, test } from "vitest";
import type { Ask, BackendSink } from "../../../../src/backends/types.ts";
import { silentLog } from "../../../../src/base/log.ts";
import { LocalAgent } from "../../../../src/cli/demian/tui/agent.ts";
import type { PermissionPrompt } from "../../../../src/runtime/permissions/types.ts";

const PROMPT: PermissionPrompt = {
  sessionId: "s",
  callId: "call_0",
  agent: "build",
  tool: "bash",
  title: "bash: ls",
  command: "ls",
  cwd: "/w",
  sandbox: "off",
  input: { command: "ls" },
};

async function open() {
  const asks: Ask[] = [];
  const withdrawn: string[] = [];
  const agent = new LocalAgent({
    session: () => Promise.reject(new Error("no session")),
    takeExtras: () => ({}),
    onReport: () => undefined,
  });
  const sink = {
    ask: (ask: Ask) => asks.push(ask),
    withdrawn: (native_id: string) => withdrawn.push(native_id),
  };
  const order = {
    session_id: "s",
    resume: false,
    began_here: true,
    options: {},
    generation: "g",
    env: {},
    log: silentLog,
  };
  await agent.backend.start(order, sink as unknown as BackendSink);
  const last = (): Ask => {
    const ask = asks.at(-1);
    if (ask === undefined) throw new Error("nothing was asked");
    return ask;
  };
  return { agent, last, withdrawn };
}

const never = new AbortController().signal;

describe("a permission", () => {
  test("names its call and shows the command byte by byte", async () => {
    const { agent, last } = await open();
    const command = `echo "\u202e\u001b[2J" ${"x".repeat(100_000)}`;
    void agent.permission({ ...PROMPT, command }, never);
    expect(last()).toMatchObject({ request_type: "command", item_id: "call_0", payload: { command } });
    expect(last().payload.reason).toMatch(/^Sandbox off: .*your full permissions/);
  });

  test("says when the agent's own rules deny it and when another program runs it", async () => {
    const { agent, last } = await open();
    void agent.permission({ ...PROMPT, widens: true, executor: "claudecode", reason: "a rule" }, never);
    expect(last().payload.reason).toMatch(
      /^a rule\nSandbox off: .*\n.*only you can allow it\.\nclaudecode runs it itself/,
    );
  });

  test("offers always only if the runtime does, and is answered once", async () => {
    const { agent, last } = await open();
    void agent.permission(PROMPT, never);
    expect(last().payload.choices.map(({ decision }) => decision)).toEqual(["accept", "decline", "cancel"]);
    const answer = agent.permission({ ...PROMPT, always: "exactly this" }, never);
    const { native_id, payload } = last();
    expect(payload.choices).toContainEqual({ decision: "acceptAlways", remembers: ["exactly this"] });
    expect(await agent.answer(native_id, { decision: "acceptAlways" })).toBe(true);
    expect(await answer).toEqual({ decision: "allow", always: true });
    expect(await agent.answer(native_id, { decision: "accept" })).toBe(false);
  });

  test("is withdrawn with its turn, and nothing is allowed then", async () => {
    const { agent, last, withdrawn } = await open();
    const turn = new AbortController();
    const answer = agent.permission(PROMPT, turn.signal);
    turn.abort();
    expect(await answer).toEqual({ decision: "deny", stop: true });
    expect(withdrawn).toEqual([last().native_id]);
    expect(await agent.permission(PROMPT, turn.signal)).toEqual({ decision: "deny", stop: true });
  });
});

describe("a question", () => {
  test("takes one of its options, or free text", async () => {
    const { agent, last } = await open();
    const first = agent.question({ text: "Which?\nThink.", options: ["red", "blue"] }, never);
    expect(last()).toMatchObject({ request_type: "user_input", payload: { title: "Which?" } });
    expect(last().payload.questions).toMatchObject([
      { question: "Which?\nThink.", options: [{ label: "red" }, { label: "blue" }], allows_other: true },
    ]);
    await agent.answer(last().native_id, { answers: { answer: ["blue"] } });
    expect(await first).toBe("blue");
    const second = agent.question({ text: "Why?" }, never);
    await agent.answer(last().native_id, { answers: { answer: " because " } });
    expect(await second).toBe("because");
  });

  test("has no answer when it is declined", async () => {
    const { agent, last } = await open();
    const answer = agent.question({ text: "Why?" }, never);
    await agent.answer(last().native_id, { decision: "decline" });
    expect(await answer).toBeUndefined();
  });
});
