import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { SessionStore } from "../../../src/runtime/conversations/store.ts";
import { gate } from "../../support/gate.ts";
import { errorOf, Harness } from "./harness.ts";

const textsOf = (updates: { content: unknown }[]) =>
  updates.map(({ content }) => (content as { text?: string }).text).join("");

describe("session/prompt", () => {
  test("streams text and thoughts, and all of it is written before the answer", async () => {
    const acp = await Harness.start();
    const { sessionId } = await acp.open();
    acp.fakes.script = async (turn) => {
      turn.emit({ type: "model.reasoning.delta", text: "hm" });
      for (let n = 0; n < 200; n += 1) turn.say(`${n} `);
      return undefined;
    };
    const answer = await acp.prompt(sessionId, "count");
    expect(answer.stopReason).toBe("end_turn");
    expect(textsOf(acp.ofKind(sessionId, "agent_thought_chunk"))).toBe("hm");
    const words = Array.from({ length: 200 }, (_, n) => `${n} `).join("");
    const answered = acp.frames.findIndex(({ result }) => result?.["stopReason"] === "end_turn");
    const before = acp.frames.slice(0, answered).filter(({ method }) => method === "session/update");
    const chunks = before.map(
      ({ params }) => params?.["update"] as { sessionUpdate: string; content: unknown },
    );
    expect(textsOf(chunks.filter(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk"))).toBe(
      words,
    );
  });

  test("each response of the model has its own message id", async () => {
    const acp = await Harness.start();
    const { sessionId } = await acp.open();
    acp.fakes.script = async (turn) => {
      turn.say("a");
      turn.emit({
        type: "provider.retry",
        provider: "local",
        attempt: 1,
        maxAttempts: 3,
        delayMs: 1,
        reason: "cut",
      });
      turn.say("b");
      return undefined;
    };
    await acp.prompt(sessionId, "go");
    const ids = acp.ofKind(sessionId, "agent_message_chunk").map(({ messageId }) => messageId);
    expect(new Set(ids).size).toBe(2);
    const event = await acp.frame(({ method }) => method === "_demian/event");
    expect(event.params).toMatchObject({ sessionId, event: { type: "provider.retry", reason: "cut" } });
  });

  test.each([
    {},
    { _meta: {} },
    { _meta: { demian: true } },
    { _meta: { demian: { events: "yes" } } },
    { _meta: { other: { events: true, notices: true } } },
  ])(
    "a client that announced %j gets no method that ACP does not have, and notices go to stderr",
    async (capabilities) => {
      const acp = await Harness.start({ capabilities: { _meta: null, ...capabilities } });
      const mcpServers = [{ type: "sse" as const, name: "files", url: "http://127.0.0.1:1", headers: [] }];
      const opened = await acp.agent.request("session/new", { cwd: acp.cwd, mcpServers });
      const { sessionId } = opened as { sessionId: string };
      acp.fakes.script = async (turn) => {
        const retry = { attempt: 1, maxAttempts: 3, delayMs: 1, reason: "cut" };
        turn.emit({ type: "provider.retry", provider: "local", ...retry });
        turn.say("b");
        return undefined;
      };
      await acp.prompt(sessionId, "go");
      const methods = acp.frames.flatMap(({ method }) => (method === undefined ? [] : [method]));
      expect(methods).toContain("session/update");
      expect(methods.filter((method) => method.startsWith("_"))).toEqual([]);
      await vi.waitFor(() => expect(acp.warnings).toEqual([expect.stringMatching(/MCP.*files/)]));
    },
  );

  test("text that was not streamed is sent whole, and streamed text is not sent twice", async () => {
    const acp = await Harness.start();
    const { sessionId } = await acp.open();
    acp.fakes.script = async (turn) => {
      turn.emit({ type: "model.text", text: "whole", final: false });
      turn.emit({
        type: "model.request",
        turn: 2,
        provider: "p",
        model: "m",
        messages: 1,
        tools: 0,
        stream: true,
      });
      turn.say("streamed");
      turn.emit({ type: "model.text", text: "streamed", final: true });
      return undefined;
    };
    await acp.prompt(sessionId, "go");
    expect(textsOf(acp.ofKind(sessionId, "agent_message_chunk"))).toBe("wholestreamed");
  });

  test.each([
    ["completed", "end_turn"],
    ["max_turns", "max_turn_requests"],
    ["max_tokens", "max_tokens"],
    ["content_filter", "refusal"],
    ["blocked", "refusal"],
    ["aborted", "cancelled"],
  ] as const)("a turn that ended %s is answered %s, with the usage summed", async (outcome, stopReason) => {
    const acp = await Harness.start();
    const { sessionId } = await acp.open();
    acp.fakes.script = async () => ({
      outcome,
      message: "why",
      usage: { inputTokens: 7, outputTokens: 3, cacheReadTokens: 2, reasoningTokens: 1 },
    });
    expect(await acp.prompt(sessionId, "go")).toMatchObject({
      stopReason,
      usage: { inputTokens: 7, outputTokens: 3, cachedReadTokens: 2, thoughtTokens: 1 },
      _meta: { demian: { outcome, message: "why" } },
    });
  });

  test.each([
    ["auth", -32000],
    ["server", -32603],
    ["rate_limit", -32603],
  ] as const)("a failure of kind %s is the error %i, with what the provider said", async (kind, code) => {
    const acp = await Harness.start();
    const { sessionId } = await acp.open();
    acp.fakes.script = async () => ({
      outcome: "failed",
      failure: { kind, message: "the provider said no", status: 418, requestId: "req_1" },
    });
    const error = await errorOf(acp.prompt(sessionId, "go"));
    expect(error).toMatchObject({ code, message: "the provider said no" });
    expect(error.data).toMatchObject({ kind, status: 418, requestId: "req_1" });
    acp.fakes.script = async () => undefined;
    expect((await acp.prompt(sessionId, "again")).stopReason).toBe("end_turn");
  });

  test("a second prompt while one runs is refused, and the first continues", async () => {
    const acp = await Harness.start();
    const { sessionId } = await acp.open();
    const held = gate();
    acp.fakes.script = async (turn) => {
      turn.say("working");
      await held.passed;
      return undefined;
    };
    const first = acp.prompt(sessionId, "one");
    const error = await errorOf(acp.prompt(sessionId, "two"));
    expect(error).toEqual({
      code: -32600,
      message: expect.stringMatching(/a prompt is running/),
      data: undefined,
    });
    held.open();
    expect((await first).stopReason).toBe("end_turn");
  });

  test("two sessions run at the same time and hear only of themselves", async () => {
    const acp = await Harness.start();
    const one = (await acp.open()).sessionId;
    const two = (await acp.open()).sessionId;
    const meet = [gate(), gate()];
    acp.fakes.script = async (turn) => {
      const n = turn.input.text === "one" ? 0 : 1;
      turn.say(`${turn.input.text}-a `);
      meet[n]?.open();
      await Promise.all(meet.map(({ passed }) => passed));
      turn.say(`${turn.input.text}-b`);
      return undefined;
    };
    await Promise.all([acp.prompt(one, "one"), acp.prompt(two, "two")]);
    expect(textsOf(acp.ofKind(one, "agent_message_chunk"))).toBe("one-a one-b");
    expect(textsOf(acp.ofKind(two, "agent_message_chunk"))).toBe("two-a two-b");
    expect(acp.fakes.created).toBe(1);
  });

  test("context usage and the session's title are reported", async () => {
    const acp = await Harness.start();
    const { sessionId } = await acp.open();
    acp.fakes.script = async (turn) => {
      turn.emit({ type: "context.compiled", estimatedTokens: 120, messages: 2, limitTokens: 48_000 });
      return undefined;
    };
    await acp.prompt(
      sessionId,
      "Fix the failing test\nin src/a.ts, please, and then run all of them again, twice",
    );
    expect(acp.ofKind(sessionId, "usage_update")).toEqual([
      { sessionUpdate: "usage_update", used: 120, size: 48_000 },
    ]);
    const title = "Fix the failing test in src/a.ts, please, and then run all…";
    expect(acp.ofKind(sessionId, "session_info_update")).toMatchObject([{ title }]);
    await acp.prompt(sessionId, "second");
    expect(acp.ofKind(sessionId, "session_info_update")).toHaveLength(1);
  });

  test("/compact is offered, done without the model, and rewrites what is kept", async () => {
    const acp = await Harness.start();
    const { sessionId } = await acp.open();
    await acp.update(({ sessionUpdate }) => sessionUpdate === "available_commands_update");
    expect((await acp.prompt(sessionId, "/compact")).stopReason).toBe("end_turn");
    expect(textsOf(acp.ofKind(sessionId, "agent_message_chunk"))).toMatch(/not enough to compact/);
    await acp.prompt(sessionId, "one");
    await acp.prompt(sessionId, "two");
    acp.fakes.script = () => Promise.reject(new Error("the model was asked"));
    await acp.prompt(sessionId, " /compact ");
    expect(textsOf(acp.ofKind(sessionId, "agent_message_chunk"))).toMatch(/Compacted 3 messages/);
    await acp.agent.request("session/close", { sessionId });
    await acp.agent.request("session/load", { sessionId, cwd: acp.cwd, mcpServers: [] });
    expect(acp.ofKind(sessionId, "user_message_chunk")).toMatchObject([{ content: { text: "summary" } }]);
  });

  test("/context is answered without the model", async () => {
    const acp = await Harness.start();
    const { sessionId } = await acp.open();
    acp.fakes.script = () => Promise.reject(new Error("the model was asked"));
    expect((await acp.prompt(sessionId, "/context")).stopReason).toBe("end_turn");
    const said = textsOf(acp.ofKind(sessionId, "agent_message_chunk"));
    expect(said).toMatch(/```text\ncontext of fake m: about 7 of 100 tokens \(7 %\)\n {2}system prompt/);
  });

  test("/name names a session, which is listed by its name", async () => {
    const acp = await Harness.start();
    const { sessionId } = await acp.open();
    await acp.prompt(sessionId, "one");
    await acp.prompt(sessionId, "/name the parser");
    expect(acp.ofKind(sessionId, "session_info_update").at(-1)).toMatchObject({ title: "the parser" });
    await acp.prompt(sessionId, "/name");
    expect(textsOf(acp.ofKind(sessionId, "agent_message_chunk"))).toMatch(
      /Named the parser\.Its name is the parser\./,
    );
    await expect(acp.prompt(sessionId, `/name ${"x".repeat(101)}`)).rejects.toMatchObject({ code: -32602 });
    const { sessions } = await acp.agent.request("session/list", { cwd: acp.cwd });
    expect(sessions).toMatchObject([{ sessionId, title: "the parser" }]);
    expect(await new SessionStore({ XDG_STATE_HOME: join(acp.home, "state") }).list()).toMatchObject([
      { name: "the parser", title: "one", turns: 1 },
    ]);
  });
});
