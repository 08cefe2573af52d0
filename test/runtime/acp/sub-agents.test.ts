// Updates about sub-agents, and about agents that run their own tools.
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Translator } from "../../../src/runtime/acp/translate.ts";
import type { EventBody, RuntimeEvent } from "../../../src/runtime/events.ts";
import { ToolRegistry } from "../../../src/runtime/tools/registry.ts";
import type { FakeTurn } from "./fake-runtime.ts";
import { type Frame, Harness, selected } from "./harness.ts";

const CHILD = {
  rootSessionId: "s",
  agentSessionId: "as_1",
  invocationId: "inv_1",
  parentInvocationId: "main",
  parentCallId: "d1",
  agentPath: ["reviewer"],
};
const ABOUT = { callId: "d1", targetAgent: "reviewer" };
const SPENT = { turns: 2, usage: { inputTokens: 7, outputTokens: 3 }, durationMs: 40 };
const input = { agent: "reviewer", task: "look at it" };

function delegate(turn: FakeTurn): void {
  turn.emit({ type: "tool.requested", callId: "d1", name: "delegate_agent", input });
  turn.emit({ type: "agent.invocation.requested", ...ABOUT, task: "look at it" });
  turn.emit({
    type: "tool.started",
    callId: "d1",
    name: "delegate_agent",
    input,
    title: "delegate to reviewer",
  });
  const place = { provider: "big", model: "large", depth: 1, handoffTokens: 30 };
  turn.emit({ type: "agent.invocation.started", ...ABOUT, ...place, ...CHILD });
}

function conclude(turn: FakeTurn, content = "all is well"): void {
  turn.emit({
    type: "agent.invocation.completed",
    ...ABOUT,
    preview: content,
    resultTokens: 4,
    ...SPENT,
    ...CHILD,
  });
  const end = { ok: true as const, preview: content, content, durationMs: 50 };
  turn.emit({ type: "tool.completed", callId: "d1", name: "delegate_agent", ...end });
}

function read(turn: FakeTurn, callId = "c1"): void {
  const call = { callId, name: "read_file", input: { path: "src/a.ts" }, ...CHILD };
  turn.emit({ type: "tool.requested", ...call });
  turn.emit({ type: "tool.started", ...call, title: "read_file: src/a.ts" });
  turn.emit({ type: "tool.completed", ...call, ok: true, preview: "x", content: "x", durationMs: 1 });
}

async function played(acp: Harness, script: (turn: FakeTurn) => Promise<void> | void): Promise<Frame[]> {
  const { sessionId } = await acp.open();
  acp.fakes.script = async (turn) => {
    await script(turn);
    return undefined;
  };
  const from = acp.frames.length;
  await acp.prompt(sessionId, "go");
  return acp.frames.slice(from);
}

const updatesOf = (frames: Frame[]) =>
  frames.flatMap(({ method, params }) =>
    method === "session/update" ? [params?.["update"] as Record<string, unknown>] : [],
  );
const eventsOf = (frames: Frame[]) =>
  frames.flatMap(({ method, params }) =>
    method === "_demian/event" ? [params as Record<string, unknown> & { event: RuntimeEvent }] : [],
  );

describe("a sub-agent", () => {
  test("calls tools as ordinary calls that name the caller, in every update", async () => {
    const acp = await Harness.start();
    const frames = await played(acp, (turn) => {
      delegate(turn);
      read(turn);
      conclude(turn);
    });
    const demian = { parentToolCallId: "d1", agentPath: ["reviewer"], invocationId: "inv_1" };
    const calls = updatesOf(frames).filter(({ toolCallId }) => toolCallId === "c1");
    expect(calls).toMatchObject([
      { sessionUpdate: "tool_call", kind: "read", status: "pending", _meta: { demian } },
      {
        status: "in_progress",
        title: "read_file: src/a.ts",
        rawInput: { path: "src/a.ts" },
        _meta: { demian },
      },
      { status: "completed", _meta: { demian: { ...demian, durationMs: 1 } } },
    ]);
    const own = updatesOf(frames).filter(({ toolCallId }) => toolCallId === "d1");
    expect(own[0]).toMatchObject({ kind: "think", title: "delegate_agent: reviewer", rawInput: input });
    expect(JSON.stringify(own)).not.toContain("parentToolCallId");
    // The input of the permission request must not be replaced.
    expect(own.slice(1).filter((step) => "rawInput" in step)).toEqual([]);
  });

  test("is identified by the wire id of the call that started it", async () => {
    const acp = await Harness.start();
    await acp.open();
    const frames = await played(acp, (turn) => {
      delegate(turn);
      conclude(turn);
      delegate(turn);
      read(turn);
      conclude(turn);
    });
    const child = updatesOf(frames).find(({ toolCallId }) => toolCallId === "c1");
    expect(child).toMatchObject({ _meta: { demian: { parentToolCallId: "d1~2" } } });
    const told = eventsOf(frames).filter(({ event }) => event.type === "agent.invocation.completed");
    expect(told.map(({ toolCallId }) => toolCallId)).toEqual(["d1", "d1~2"]);
  });

  test("sends its own events, in few pieces and in order, and never in the answer", async () => {
    const acp = await Harness.start();
    const frames = await played(acp, (turn) => {
      turn.say("I ask the reviewer.");
      delegate(turn);
      turn.emit({ type: "model.reasoning.delta", text: "hm", ...CHILD });
      for (const word of ["one ", "two ", "\ud83d", "\ude00"]) {
        turn.emit({ type: "model.text.delta", text: word, ...CHILD });
      }
      turn.emit({ type: "model.text", text: "one two 😀", final: false, ...CHILD });
      read(turn);
      turn.emit({
        type: "model.request",
        turn: 2,
        provider: "b",
        model: "m",
        messages: 3,
        tools: 1,
        stream: false,
        ...CHILD,
      });
      turn.emit({ type: "model.text", text: "whole", final: true, ...CHILD });
      conclude(turn);
      turn.say("Done.");
    });
    const answer = updatesOf(frames).filter(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk");
    expect(answer.map(({ content }) => (content as { text: string }).text).join("|")).toBe(
      "I ask the reviewer.|Done.",
    );
    const said = eventsOf(frames).filter(({ event }) => event.type.startsWith("model."));
    expect(said).toMatchObject([
      { event: { type: "model.reasoning.delta", text: "hm" }, parentToolCallId: "d1" },
      {
        event: { type: "model.text.delta", text: "one two 😀", agentPath: ["reviewer"] },
        parentToolCallId: "d1",
      },
      { event: { type: "model.text", text: "whole" }, parentToolCallId: "d1" },
    ]);
    expect(new Set(said.map(({ messageId }) => messageId)).size).toBe(3);
    const order = frames.flatMap(({ params }) => {
      const { event, update } = (params ?? {}) as { event?: RuntimeEvent; update?: { toolCallId?: string } };
      return event?.type ?? update?.toolCallId ?? [];
    });
    expect(order.indexOf("model.text.delta")).toBeLessThan(order.indexOf("c1"));
    expect(order.lastIndexOf("c1")).toBeLessThan(order.indexOf("model.text"));
  });

  test("has said everything before the call that started it ends", async () => {
    const acp = await Harness.start();
    const frames = await played(acp, (turn) => {
      turn.emit({ type: "tool.requested", callId: "d1", name: "delegate_agent", input });
      turn.emit({ type: "model.text.delta", text: "bye", ...CHILD });
      const end = { ok: true as const, preview: "", content: "", durationMs: 1 };
      turn.emit({ type: "tool.completed", callId: "d1", name: "delegate_agent", ...end });
    });
    const order = frames.flatMap(({ params }) => {
      const { event, update } = (params ?? {}) as { event?: RuntimeEvent; update?: { status?: string } };
      return event?.type ?? update?.status ?? [];
    });
    expect(order).toEqual(["pending", "model.text.delta", "completed"]);
  });

  test("with a long text is shown before it is done, and not word by word", async () => {
    const acp = await Harness.start();
    const first = acp.frame(
      ({ method, params }) => method === "_demian/event" && "messageId" in (params ?? {}),
    );
    const frames = await played(acp, async (turn) => {
      delegate(turn);
      for (let n = 0; n < 500; n += 1) turn.emit({ type: "model.text.delta", text: "word ", ...CHILD });
      turn.emit({ type: "model.text.delta", text: "x".repeat(3000), ...CHILD });
      await first;
      turn.emit({ type: "model.text.delta", text: "end", ...CHILD });
      conclude(turn);
    });
    const pieces = eventsOf(frames).filter(({ messageId }) => messageId !== undefined);
    expect(pieces).toHaveLength(2);
    expect(pieces[1]).toMatchObject({ event: { text: "end" } });
  });

  test("is shown to any client as lines under the call that started it, and its context usage is not sent", async () => {
    const acp = await Harness.start();
    const shown = acp.update((update) => JSON.stringify(update).includes("reviewer: read_file: src/a.ts"));
    const frames = await played(acp, async (turn) => {
      turn.emit({ type: "context.compiled", estimatedTokens: 10, messages: 1, limitTokens: 100 });
      delegate(turn);
      turn.emit({ type: "context.compiled", estimatedTokens: 99, messages: 1, limitTokens: 100, ...CHILD });
      turn.emit({ type: "model.text", text: "I look\nat it", final: false, ...CHILD });
      read(turn);
      await shown;
      conclude(turn);
    });
    const live = updatesOf(frames).filter(
      ({ toolCallId, status }) => toolCallId === "d1" && status === "in_progress",
    );
    expect(live.at(-1)?.["content"]).toEqual([
      {
        type: "content",
        content: { type: "text", text: "reviewer: I look at it\nreviewer: read_file: src/a.ts\n" },
      },
    ]);
    const usage = updatesOf(frames).filter(({ sessionUpdate }) => sessionUpdate === "usage_update");
    expect(usage).toEqual([{ sessionUpdate: "usage_update", used: 10, size: 100 }]);
  });

  test("asks with its path, and its start shows the full text it receives", async () => {
    const acp = await Harness.start();
    acp.onPermission = () => selected("allow_once");
    const invocation = {
      agent: "reviewer",
      provider: "big",
      model: "large",
      crossesProvider: true,
      receives: ["the current user request", "file paths"],
      handoff: "# Task\nlook at it\u202e",
    };
    const digest = `sha256 ${createHash("sha256").update(invocation.handoff).digest("hex")}`;
    await played(acp, async (turn) => {
      turn.emit({ type: "tool.requested", callId: "d1", name: "delegate_agent", input });
      await turn.ask({
        callId: "d1",
        tool: "delegate_agent",
        title: "delegate to reviewer",
        input,
        invocation,
      });
      delegate(turn);
      turn.emit({ type: "tool.requested", callId: "c2", name: "bash", input: { command: "ls" }, ...CHILD });
      const asked = { command: "ls", input: { command: "ls" }, agentPath: ["reviewer"] };
      await turn.ask({ callId: "c2", ...asked, widens: true });
      conclude(turn);
    });
    const [start, inside] = acp.permissions.map(
      ({ toolCall }) => toolCall as unknown as Record<string, unknown>,
    );
    expect(start).toMatchObject({
      kind: "think",
      // What was said of it is remembered by this.
      rawInput: { ...input, invocation: { provider: "big", model: "large", handoff: digest } },
      _meta: { demian: { invocation } },
    });
    const text = JSON.stringify(start?.["content"]);
    for (const words of [
      "Starts the agent reviewer",
      "another provider: big",
      "file paths",
      "# Task\\nlook at it",
    ]) {
      expect(text).toContain(words);
    }
    expect(text).not.toContain("\u202e");
    expect(inside).toMatchObject({
      title: "reviewer › bash: ls",
      _meta: { demian: { agentPath: ["reviewer"], parentToolCallId: "d1~2", widens: true } },
    });
    expect(start).not.toMatchObject({ _meta: { demian: { widens: true } } });
  });
});

test("money of the main agent and of sub-agents is added up for the session, also over a resume", async () => {
  const acp = await Harness.start();
  const { sessionId } = await acp.open();
  const usage = { inputTokens: 1, outputTokens: 1 };
  acp.fakes.script = async (turn) => {
    turn.emit({ type: "model.usage", ...usage, costUsd: 0.1 });
    turn.emit({ type: "model.usage", ...usage, costUsd: 0.2, ...CHILD });
    return { usage: { ...usage, costUsd: 0.3 } };
  };
  const answer = await acp.prompt(sessionId, "go");
  expect(answer._meta).toMatchObject({ demian: { costUsd: 0.3 } });
  await acp.agent.request("session/resume", { sessionId, cwd: acp.cwd, mcpServers: [] });
  await acp.prompt(sessionId, "again");
  const costs = acp.ofKind(sessionId, "usage_update").map(({ cost }) => cost);
  expect(costs).toEqual([0.1, 0.3, 0.4, 0.6].map((amount) => ({ amount, currency: "USD" })));
});

test("tools of Claude Code have the kinds, locations and changes of their names and inputs, and the agent that runs them", async () => {
  const acp = await Harness.start();
  const edit = { file_path: "src/a.ts", old_string: "a", new_string: "b" };
  const frames = await played(acp, async (turn) => {
    const by = { executor: "claudecode", qualifiedName: "claudecode.Edit" };
    turn.emit({ type: "tool.requested", callId: "e1", name: "Edit", input: edit, ...by });
    await turn.ask({
      callId: "e1",
      tool: "claudecode.Edit",
      title: "Edit src/a.ts",
      input: edit,
      executor: "claudecode",
    });
    turn.emit({
      type: "tool.started",
      callId: "e1",
      name: "Edit",
      input: edit,
      title: "Edit src/a.ts",
      ...by,
    });
    turn.emit({
      type: "tool.requested",
      callId: "b1",
      name: "Bash",
      input: { command: "ls" },
      executor: "claudecode",
    });
  });
  const path = join(acp.cwd, "src/a.ts");
  const diff = { type: "diff", path, oldText: "a", newText: "b" };
  const meta = { _meta: { demian: { executor: "claudecode" } } };
  expect(updatesOf(frames).filter(({ toolCallId }) => toolCallId !== undefined)).toMatchObject([
    { toolCallId: "e1", kind: "edit", title: "Edit: src/a.ts", locations: [{ path }], ...meta },
    { toolCallId: "e1", status: "in_progress", content: [diff], ...meta },
    { toolCallId: "b1", kind: "execute", title: "Bash: ls", ...meta },
    { toolCallId: "b1", status: "failed" },
    { toolCallId: "e1", status: "failed" },
  ]);
  expect(acp.permissions[0]?.toolCall).toMatchObject({ kind: "edit", ...meta });
  expect(JSON.stringify(acp.permissions[0]?.toolCall.content)).toContain("claudecode runs it itself");
});

test("an agent with its own loop is shown once, message by message, streamed or not, in every turn", async () => {
  const acp = await Harness.start();
  const { sessionId } = await acp.open();
  const whole = (text: string, final = false) => ({ type: "model.text", text, final }) as const;
  const use = { callId: "r1", name: "Read", input: {}, executor: "claudecode" };
  let isStreamed = true;
  acp.fakes.script = async (turn) => {
    if (isStreamed) turn.emit({ type: "model.text.delta", text: "I look." });
    turn.emit(whole("I look."));
    turn.emit({ type: "tool.requested", ...use });
    turn.emit({ type: "tool.completed", ...use, ok: true, preview: "", content: "", durationMs: 1 });
    if (isStreamed) turn.emit({ type: "model.text.delta", text: "It is fine." });
    turn.emit(whole("It is fine."));
    turn.emit(whole("It is fine.", true));
    turn.emit({ type: "turn.ended", outcome: "completed", turns: 2 });
    return undefined;
  };
  for (isStreamed of [true, false, true]) await acp.prompt(sessionId, "go");
  const said = acp.ofKind(sessionId, "agent_message_chunk");
  const texts = said.map(({ content }) => (content.type === "text" ? content.text : ""));
  expect(texts).toEqual(Array.from({ length: 3 }, () => ["I look.", "It is fine."]).flat());
  expect(new Set(said.map(({ messageId }) => messageId)).size).toBe(6);
});

test("what sub-agents do never changes the updates of the main agent", () => {
  const event = (body: EventBody & object): RuntimeEvent => ({ ...body, sessionId: "s", agent: "a", ts: 1 });
  const text = fc.string({ unit: "binary", minLength: 1, maxLength: 6 });
  const tool = fc.constantFrom("t1", "t2");
  const end = { ok: true as const, preview: "", content: "c", durationMs: 1 };
  const body = fc.oneof(
    text.map((words): EventBody => ({ type: "model.text.delta", text: words })),
    text.map((words): EventBody => ({ type: "model.reasoning.delta", text: words })),
    text.map((words): EventBody => ({ type: "model.text", text: words, final: false })),
    fc.constant<EventBody>({
      type: "model.request",
      turn: 1,
      provider: "p",
      model: "m",
      messages: 1,
      tools: 1,
      stream: true,
    }),
    fc.constant<EventBody>({ type: "context.compiled", estimatedTokens: 5, messages: 1, limitTokens: 50 }),
    tool.map((callId): EventBody => ({ type: "tool.requested", callId, name: "bash", input: {} })),
    tool.map((callId): EventBody => ({ type: "tool.completed", callId, name: "bash", ...end })),
  );
  const main = body.map(event);
  const child = body.map((each) => {
    const renamed = "callId" in each ? { ...each, callId: `c-${each.callId}` } : each;
    return { ...event(renamed), ...CHILD };
  });
  const toldOf = (events: RuntimeEvent[]): unknown[] => {
    let ids = 0;
    const newId = () => `id-${++ids}`;
    const translator = new Translator({ cwd: "/p", tools: new ToolRegistry(), newId });
    const told = events.flatMap((each) => translator.translate(each));
    // The ids of messages are random; which of them are the same is not.
    const names = new Map<unknown, number>();
    return told.flatMap((outgoing) => {
      if (outgoing.method !== "session/update") return [];
      const update: Record<string, unknown> = { ...outgoing.update };
      const id = update["toolCallId"];
      if (typeof id === "string" && id.startsWith("c-")) return [];
      const messageId = update["messageId"];
      if (messageId !== undefined && !names.has(messageId)) names.set(messageId, names.size);
      return [{ ...update, messageId: names.get(messageId) }];
    });
  };
  fc.assert(
    fc.property(fc.array(fc.oneof(main, child), { maxLength: 40 }), (events) => {
      const own = events.filter(({ agentPath }) => agentPath === undefined);
      expect(toldOf(events)).toEqual(toldOf(own));
    }),
  );
});

describe("a plan", () => {
  test("can be carried out once there is one, with the text after the command", async () => {
    const acp = await Harness.start();
    const { sessionId } = await acp.open();
    const inputs: unknown[] = [];
    acp.fakes.script = async ({ input: { text, usePlan } }) => {
      inputs.push({ text, usePlan });
      acp.fakes.plan = "1. do it";
      return undefined;
    };
    await acp.update(({ sessionUpdate }) => sessionUpdate === "available_commands_update");
    await acp.prompt(sessionId, "plan it");
    await acp.prompt(sessionId, "/use-plan but quickly");
    await acp.prompt(sessionId, "/use-planner is a word");
    expect(inputs).toEqual([
      { text: "plan it", usePlan: undefined },
      { text: "but quickly", usePlan: true },
      { text: "/use-planner is a word", usePlan: undefined },
    ]);
    const commands = acp
      .ofKind(sessionId, "available_commands_update")
      .map(({ availableCommands }) => availableCommands.map(({ name }) => name));
    expect(commands.map((names) => names.includes("use-plan"))).toEqual([false, true]);
  });
});

describe("several agents", () => {
  test("can be asked for by the client, whose sessions then share no runtime with the others", async () => {
    const acp = await Harness.start({ flags: { settings: { maxTurns: 3 } } });
    const answers = [await acp.open(), await acp.open({ agent_mode: "multi-agent" }), await acp.open()];
    expect(acp.fakes.runtimeOrders.map(({ flags }) => flags)).toEqual([
      { maxTurns: 3 },
      { maxTurns: 3, agentMode: "multi-agent" },
    ]);
    expect(answers[1]?._meta).toMatchObject({ demian: { agentMode: expect.any(String) } });
    // An agent of the project came: what is opened now has it.
    const agents = join(acp.cwd, ".demian/agents");
    mkdirSync(agents, { recursive: true });
    writeFileSync(join(agents, "tester.md"), "---\ndescription: tests\n---\n");
    await acp.open();
    expect(acp.fakes.created).toBe(3);
    await expect(acp.open({ agent_mode: "swarm" })).rejects.toMatchObject({
      code: -32602,
      message: expect.stringMatching(/agent_mode must be/),
    });
  });
});
