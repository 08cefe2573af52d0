// Turns over `codex mcp-server`: the calls that are made, how a conversation continues, and how an interrupt ends.
import { describe, expect, test } from "vitest";
import { user } from "../conformance.ts";
import { isRunning } from "../processes.ts";
import { fakeCodex, say, startFake } from "./mcp-fake.ts";

const THREAD = "019d0000-0000-7000-8000-000000000001";

describe("a turn", () => {
  test("the first message calls codex with the options, the next ones codex-reply with the thread", async () => {
    const started = await startFake({
      model: "gpt-5.2-codex",
      profile: "work",
      sandbox: "read-only",
      "approval-policy": "on-failure",
      "base-instructions": "be",
      "developer-instructions": "dev",
      "compact-prompt": "short",
      config: { hide: true },
      user_echo: false,
    });
    const first = JSON.parse(await say(started, "#call"));
    expect(first).toEqual({
      id: 3,
      name: "codex",
      arguments: {
        prompt: "#call",
        model: "gpt-5.2-codex",
        profile: "work",
        cwd: started.order.options["cwd"],
        sandbox: "read-only",
        "approval-policy": "on-failure",
        "base-instructions": "be",
        "developer-instructions": "dev",
        "compact-prompt": "short",
        config: { hide: true },
      },
    });
    const [native] = started.sink.heard.flatMap((heard) => (heard.kind === "nativeId" ? [heard.id] : []));
    expect(JSON.parse(await say(started, "#call #say again #call"))).toEqual({
      id: 4,
      name: "codex-reply",
      arguments: { prompt: "#call #say again #call", threadId: native },
    });
    expect(JSON.parse(await say(started, "#context"))).toHaveLength(3);
  });

  test("it begins with system_init and ends with a result that has the held data", async () => {
    const started = await startFake();
    await say(started, "#say Hello you");
    expect(started.sink.events.map((event) => event.type)).toEqual([
      "agent.system_init",
      "agent.notice",
      "agent.delta",
      "agent.delta",
      "agent.message",
      "agent.result",
    ]);
    expect(started.sink.results).toEqual([
      {
        type: "agent.result",
        backend: "codex",
        subtype: "success",
        num_turns: 1,
        duration_ms: 12,
        time_to_first_token_ms: 3,
        usage: {
          input_tokens: 100,
          output_tokens: 20,
          cache_read_input_tokens: 40,
          reasoning_output_tokens: 7,
        },
      },
    ]);
  });

  test("events under their older name are understood", async () => {
    const codex = fakeCodex({ FAKE_CODEX_METHOD: "notifications/codex/event" });
    expect(await say(await startFake({}, { codex }), "#say old")).toBe("old");
  });

  test("text blocks are joined with nothing between", async () => {
    const { run, sink } = await startFake();
    const content = ["#say a", "b", " c"].map((text) => ({ type: "text", text }));
    await run.send({ role: "user", content });
    await sink.untilResults(1);
    expect(sink.texts).toEqual(["ab c"]);
  });

  test.each<[string, unknown]>([
    ["an image", { type: "image", source: { type: "base64", media_type: "image/png", data: "" } }],
    ["a document", { type: "document", source: {} }],
    ["a block of another type that has a text", { type: "input_text", text: "x" }],
    ["a text block without text", { type: "text" }],
  ])("%s is refused and no turn begins", async (_name, block) => {
    const started = await startFake();
    const content = [{ type: "text", text: "look" }, block as { type: string }];
    await expect(started.run.send({ role: "user", content })).rejects.toMatchObject({
      code: "invalid_message",
      message: expect.stringMatching(/^\/message\/content\/1/),
    });
    expect(JSON.parse(await say(started, "#received tools/call"))).toHaveLength(1);
  });

  test("its environment and cwd are the session's", async () => {
    const started = await startFake({}, { env: { BLEMEES_SESSION_ID: "s_1" } });
    expect(await say(started, "#env BLEMEES_SESSION_ID")).toBe("s_1");
    expect(await say(started, "#tool pwd")).toBe(`tool said: ${started.order.options["cwd"]}`);
  });

  test("a tool is a call and its result", async () => {
    const started = await startFake();
    await say(started, "#tool echo out; exit 3");
    const tools = started.sink.events.filter((event) => /tool|notice/.test(event.type)).slice(1);
    expect(tools).toMatchObject([
      {
        type: "agent.tool_use",
        tool_use_id: "call_1",
        name: "shell",
        input: ["sh", "-c", "echo out; exit 3"],
      },
      { category: "tool_output", data: { tool_use_id: "call_1", text: expect.any(String) } },
      { type: "agent.tool_result", tool_use_id: "call_1", output: "out\n", is_error: true },
    ]);
  });
});

describe("resume", () => {
  test("a new process continues the thread with codex-reply; 0.125 answers that with an empty success", async () => {
    const started = await startFake({}, { resume: true, native_session_id: THREAD });
    await say(started, "#call");
    expect(started.sink.results).toMatchObject([{ subtype: "success" }]);
    expect(started.sink.texts).toEqual([]);
  });

  test.each<[string, object, string | undefined]>([
    ["the native id", { resume: true, native_session_id: THREAD }, THREAD],
    ["no thread yet", { resume: true }, undefined],
    [
      "a row of the listing, named by its thread",
      { resume: true, began_here: false, session_id: THREAD },
      THREAD,
    ],
    ["an id that cannot be a thread", { resume: true, began_here: false, session_id: "s_1" }, undefined],
    ["a fresh start", { native_session_id: THREAD }, undefined],
  ])("which thread: %s", async (_name, order, threadId) => {
    const started = await startFake({}, { ...order, codex: fakeCodex({ FAKE_CODEX_KNOWS: THREAD }) });
    const [call] = JSON.parse(await say(started, "#received tools/call"));
    expect(call.params).toMatchObject({ name: threadId === undefined ? "codex" : "codex-reply" });
    expect(call.params.arguments.threadId).toBe(threadId);
  });
});

describe("an interrupt", () => {
  test.each([
    ["turn_aborted and no reply, as 0.125 mostly does", "#slow 1000 20"],
    ["a reply and no turn_aborted", "#slow 2 1 #cancel-reply"],
    ["turn_aborted and then a reply", "#slow 2 1 #cancel-both"],
  ])("%s: one result, and the next turn works in the same process", async (_name, prompt) => {
    const started = await startFake();
    const { run, sink } = started;
    const { pid } = run;
    await run.send(user(prompt));
    await sink.untilEvent("agent.delta");
    await run.interrupt();
    expect(sink.results).toMatchObject([{ subtype: "interrupted", num_turns: 1 }]);
    expect(sink.results[0]).not.toHaveProperty("error");
    expect(JSON.parse(await say(started, "#received notifications/cancelled"))).toEqual([
      {
        jsonrpc: "2.0",
        method: "notifications/cancelled",
        params: { requestId: 3, reason: "user_interrupt" },
      },
    ]);
    expect(sink.results.map((result) => result.subtype)).toEqual(["interrupted", "success"]);
    expect(run.pid).toBe(pid);
  });

  test("an ignored cancel ends the turn after a bound; late events are dropped", async () => {
    const started = await startFake();
    const { run, sink } = started;
    await run.send(user("#stubborn"));
    await sink.untilEvent("agent.delta");
    await run.interrupt();
    expect(sink.results).toMatchObject([{ subtype: "interrupted" }]);
    expect(await say(started, "#slow 20 10 #say second")).toBe("second");
    expect(sink.texts).toEqual(["second"]);
    const deltas = sink.events.flatMap((event) => (event.type === "agent.delta" ? [event.text] : []));
    expect(deltas).not.toContain("late ");
    expect(sink.results.map((result) => result.subtype)).toEqual(["interrupted", "success"]);
    expect(isRunning(run.pid ?? 0)).toBe(true);
  });

  test("a codex that answers nothing: two concurrent interrupts wait for the same end", async () => {
    const { run, sink } = await startFake();
    await run.send(user("#slow 1 1 #deaf"));
    await sink.untilEvent("agent.delta");
    await Promise.all([run.interrupt(), run.interrupt()]);
    expect(sink.results).toHaveLength(1);
  });

  test("it gets through although the reader is stalled", async () => {
    const { run, sink } = await startFake();
    await run.send(user("#slow 1000 20"));
    await sink.untilEvent("agent.delta");
    run.pause();
    const startedMs = performance.now();
    await run.interrupt();
    // Codex ended it, not our time limit.
    expect(performance.now() - startedMs).toBeLessThan(1500);
    expect(sink.results).toMatchObject([{ subtype: "interrupted" }]);
  });

  test("codex aborts on its own: the turn is interrupted", async () => {
    const started = await startFake();
    await say(started, "#abort");
    expect(started.sink.results).toMatchObject([{ subtype: "interrupted" }]);
  });

  test("a second message during a turn is refused, and the turn continues", async () => {
    const { run, sink } = await startFake();
    await run.send(user("#slow 5 20"));
    await expect(run.send(user("me too"))).rejects.toMatchObject({ code: "session_busy" });
    await sink.untilResults(1);
    expect(sink.results).toMatchObject([{ subtype: "success" }]);
  });
});
