import { describe, expect, test } from "vitest";
import type { Provider } from "../../src/runtime/providers/types.ts";
import { ProviderError } from "../../src/runtime/providers/types.ts";
import { Steers } from "../../src/runtime/steers.ts";
import { Stage, testTool } from "./stage.ts";

const call = (name: string, input: unknown = {}) => ({ toolCalls: [{ name, input }] });

describe("one message", () => {
  test("is answered: the model is asked once, and both join the history", async () => {
    const stage = new Stage({ replies: [{ text: "Hello there." }] });
    expect(await stage.run("hi")).toMatchObject({ outcome: "completed", text: "Hello there.", turns: 1 });
    expect(stage.told).toEqual(["user.message", "model.request", "model.text", "turn.ended"]);
    expect(stage.services.history.messages).toEqual([
      { role: "user", content: "hi" },
      { role: "assistant", content: "Hello there." },
    ]);
    expect(stage.requests[0]?.messages).toMatchObject([
      { role: "system", content: "be brief" },
      { role: "user", content: "hi" },
    ]);
  });

  test("is streamed word by word, and the words joined are the text", async () => {
    const stage = new Stage({ replies: [{ text: "One two three." }] });
    await stage.run("count");
    const words = stage.of("model.text.delta").map(({ text }) => text);
    expect(words.length).toBe(3);
    expect(words.join("")).toBe("One two three.");
  });

  test("is not streamed when streaming is off", async () => {
    const stage = new Stage({ replies: [{ text: "One two." }], streaming: false });
    expect(await stage.run("count")).toMatchObject({ text: "One two." });
    expect(stage.of("model.text.delta")).toEqual([]);
    expect(stage.of("model.request")).toMatchObject([{ stream: false }]);
  });

  test("sums what its requests cost", async () => {
    const stage = new Stage({ replies: [call("echo"), { text: "two words" }], tools: [testTool()] });
    const { usage } = await stage.run("go");
    const told = stage.of("model.usage");
    expect(told).toHaveLength(2);
    expect(usage.inputTokens).toBe(told.reduce((sum, { inputTokens }) => sum + inputTokens, 0));
    expect(usage.outputTokens).toBe(2);
  });
});

describe("a message for the running turn", () => {
  test("is sent with the next model request, after the results of the tools, and what comes too late is given back", async () => {
    const steers = new Steers();
    const outcomes: Promise<string>[] = [];
    const tool = testTool({
      execute: async () => {
        outcomes.push(steers.add({ role: "user", content: "not that file" }));
        return { ok: true, content: "done" };
      },
    });
    const stage = new Stage({ replies: [call("echo"), { text: "All right." }], tools: [tool] });
    Object.assign(stage.services, { steers });
    await stage.run("go");
    const roles = stage.requests[1]?.messages.map(({ role, content }) => `${role} ${String(content)}`);
    expect(roles?.slice(-2)).toEqual(["tool done", "user not that file"]);
    outcomes.push(steers.add({ role: "user", content: "too late" }));
    steers.giveBack();
    expect(await Promise.all(outcomes)).toEqual(["taken", "returned"]);
  });

  test("is dropped with a warning if a hook blocks it, and the turn continues", async () => {
    const steers = new Steers();
    void steers.add({ role: "user", content: "bad" });
    const stage = new Stage({
      replies: [{ text: "Done." }],
      hooks: ({ event, prompt }) => ({ blocked: event === "UserPromptSubmit" && prompt === "bad" }),
    });
    Object.assign(stage.services, { steers });
    expect(await stage.run("go")).toMatchObject({ outcome: "completed" });
    expect(stage.told).toContain("warning");
    expect(JSON.stringify(stage.requests)).not.toContain("bad");
  });
});

describe("tool calls", () => {
  test("run one after the other, in the model's order, and the model is asked again", async () => {
    const order: string[] = [];
    const tool = (name: string) =>
      testTool({
        name,
        sideEffect: "process",
        execute: async () => {
          order.push(`${name} begins`);
          await Promise.resolve();
          order.push(`${name} ends`);
          return { ok: true, content: name };
        },
      });
    const stage = new Stage({
      replies: [
        {
          toolCalls: [
            { name: "a", input: {} },
            { name: "b", input: {} },
          ],
        },
        { text: "done" },
      ],
      tools: [tool("a"), tool("b")],
    });
    expect(await stage.run("go")).toMatchObject({ outcome: "completed", text: "done", turns: 2 });
    expect(order).toEqual(["a begins", "a ends", "b begins", "b ends"]);
    expect(stage.told).toEqual([
      "user.message",
      "model.request",
      ...["tool.requested", "permission.granted", "tool.started", "tool.completed"],
      ...["tool.requested", "permission.granted", "tool.started", "tool.completed"],
      "model.request",
      "model.text",
      "turn.ended",
    ]);
  });

  test("have their own ids, although the provider restarts counting in each answer", async () => {
    const repeating: Provider = {
      id: "repeating",
      chat: ({ messages }) => {
        const isFirst = messages.filter(({ role }) => role === "tool").length < 4;
        const toolCalls = isFirst ? ["0", "0"].map((id) => ({ id, name: "echo", input: {} })) : [];
        const message = { role: "assistant" as const, content: "x", toolCalls };
        return Promise.resolve({
          message,
          toolCalls,
          stopReason: isFirst ? "tool_use" : "end_turn",
          raw: null,
        });
      },
    };
    const stage = new Stage({ provider: repeating, tools: [testTool()] });
    await stage.run("go");
    const ids = stage.of("tool.requested").map(({ callId }) => callId);
    expect(new Set(ids).size).toBe(4);
    const { messages } = stage.services.history;
    const asked = messages.flatMap((one) => (one.role === "assistant" ? (one.toolCalls ?? []) : []));
    const answers = messages.flatMap((one) => (one.role === "tool" ? [one.toolCallId] : []));
    expect(answers).toEqual(asked.map(({ id }) => id));
  });

  test("end after maxTurns requests, and say so", async () => {
    const stage = new Stage({
      replies: Array.from({ length: 9 }, () => call("echo")),
      tools: [testTool()],
      config: { maxTurns: 3 },
    });
    const report = await stage.run("go");
    expect(report).toMatchObject({ outcome: "max_turns", turns: 3 });
    expect(report.message).toContain("3 model requests");
    expect(stage.requests).toHaveLength(3);
  });
});

describe("a provider that fails", () => {
  test("before its answer ends the turn with its own message, and the user's message stays in the history", async () => {
    const failure = { kind: "auth", message: "the key is wrong; set X_KEY", status: 401 } as const;
    const provider: Provider = { id: "x", chat: () => Promise.reject(new ProviderError(failure)) };
    const stage = new Stage({ provider });
    expect(await stage.run("hi")).toMatchObject({ outcome: "failed", failure, message: failure.message });
    expect(stage.told).toEqual(["user.message", "model.request", "model.failed", "turn.ended"]);
    expect(stage.services.history.messages).toEqual([{ role: "user", content: "hi" }]);
  });

  test("in the middle keeps the text so far, and calls no tool of half an answer", async () => {
    const stage = new Stage({
      replies: [
        {
          text: "I will now",
          toolCalls: [{ name: "echo", input: {} }],
          failure: { kind: "network", message: "cut" },
        },
      ],
      tools: [testTool()],
    });
    expect(await stage.run("hi")).toMatchObject({ outcome: "failed", text: "I will now" });
    expect(stage.of("tool.requested")).toEqual([]);
    expect(stage.services.history.messages.at(-1)).toEqual({ role: "assistant", content: "I will now" });
  });

  test("whose stream just stops is a failure, not an answer", async () => {
    const provider: Provider = {
      id: "x",
      chat: () => Promise.reject(new Error("not asked")),
      async *stream() {
        yield { type: "text_delta", text: "half" };
      },
    };
    const stage = new Stage({ provider });
    expect(await stage.run("hi")).toMatchObject({ outcome: "failed", failure: { kind: "protocol" } });
  });

  test("in the middle of a word that may become a secret does not take that word with it", async () => {
    const provider: Provider = {
      id: "x",
      chat: () => Promise.reject(new Error("not asked")),
      async *stream() {
        yield { type: "text_delta", text: "the variable npm" };
        throw new Error("connection reset");
      },
    };
    const stage = new Stage({ provider });
    expect(await stage.run("hi")).toMatchObject({ outcome: "failed" });
    const words = stage.of("model.text.delta").map(({ text }) => text);
    expect(words.join("")).toBe("the variable npm");
  });

  test("by its content filter is reported as such", async () => {
    const stage = new Stage({ replies: [{ failure: { kind: "content_filter", message: "not that" } }] });
    expect(await stage.run("hi")).toMatchObject({ outcome: "content_filter", message: "not that" });
    expect(stage.of("model.content_filter")).toMatchObject([{ message: "not that" }]);
  });

  test("in a way that no provider should does not break the session", async () => {
    const provider: Provider = {
      id: "x",
      chat: () => Promise.resolve(undefined as never),
    };
    const stage = new Stage({ provider });
    expect(await stage.run("hi")).toMatchObject({ outcome: "failed" });
    expect(stage.told.at(-1)).toBe("turn.ended");
  });
});

describe("an abort", () => {
  test("during the answer ends the turn and keeps what was said", async () => {
    const stage = new Stage({
      provider: {
        id: "x",
        chat: () => Promise.reject(new Error("not asked")),
        async *stream({ signal }) {
          yield { type: "text_delta", text: "so far" };
          await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
          const message = { role: "assistant", content: "so far" } as const;
          const error = { kind: "aborted", message: "aborted" } as const;
          yield { type: "done", response: { message, toolCalls: [], stopReason: "error", error, raw: null } };
        },
      },
    });
    const running = stage.run("hi");
    await until(() => stage.of("model.text.delta").length > 0);
    stage.abort.abort();
    expect(await running).toMatchObject({ outcome: "aborted", text: "so far" });
    expect(stage.of("model.failed")).toEqual([]);
  });

  test("during a tool ends it, and the calls after it are answered but not run", async () => {
    const ran: string[] = [];
    const hanging = testTool({
      name: "hang",
      sideEffect: "process",
      execute: (_, signal) =>
        new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("stopped")))),
    });
    const next = testTool({
      name: "next",
      execute: () => {
        ran.push("next");
        return Promise.resolve({ ok: true, content: "" });
      },
    });
    const stage = new Stage({
      replies: [
        {
          toolCalls: [
            { name: "hang", input: {} },
            { name: "next", input: {} },
          ],
        },
      ],
      tools: [hanging, next],
    });
    const running = stage.run("go");
    await until(() => stage.of("tool.started").length > 0);
    stage.abort.abort();
    expect(await running).toMatchObject({ outcome: "aborted", turns: 1 });
    expect(ran).toEqual([]);
    expect(stage.of("tool.failed").map(({ reason }) => reason)).toEqual(["aborted", "aborted"]);
    expect(stage.answers).toHaveLength(2);
  });

  test("before anything leaves the history unchanged", async () => {
    const stage = new Stage();
    stage.abort.abort();
    expect(await stage.run("hi")).toMatchObject({ outcome: "aborted", turns: 0 });
    expect(stage.requests).toEqual([]);
  });
});

describe("hooks", () => {
  test("of a prompt may change it or refuse it", async () => {
    const changed = new Stage({
      hooks: ({ event }) => (event === "UserPromptSubmit" ? { patch: { prompt: "better" } } : {}),
    });
    await changed.run("hi");
    expect(changed.services.history.messages[0]).toEqual({ role: "user", content: "better" });
    const refused = new Stage({
      hooks: ({ event }) => (event === "UserPromptSubmit" ? { blocked: true, reason: "no" } : {}),
    });
    expect(await refused.run("hi")).toMatchObject({ outcome: "blocked", message: "blocked by a hook: no" });
    expect(refused.requests).toEqual([]);
    expect(refused.services.history.messages).toEqual([]);
  });

  test("of an answer may change what is kept of it; one that blocks keeps it out of the history", async () => {
    const masked = new Stage({
      replies: [{ text: "the key is sk-1" }],
      hooks: ({ event }) => (event === "AfterModelResponse" ? { patch: { text: "the key is ***" } } : {}),
    });
    expect(await masked.run("hi")).toMatchObject({ text: "the key is ***" });
    expect(masked.services.history.messages.at(-1)).toEqual({ role: "assistant", content: "the key is ***" });
    const blocked = new Stage({
      replies: [{ text: "secret", ...call("echo") }],
      tools: [testTool()],
      hooks: ({ event }) => (event === "AfterModelResponse" ? { blocked: true, reason: "leak" } : {}),
    });
    expect(await blocked.run("hi")).toMatchObject({ outcome: "blocked", text: "" });
    expect(blocked.services.history.messages).toEqual([{ role: "user", content: "hi" }]);
    expect(blocked.of("tool.requested")).toEqual([]);
  });

  test("of a stop may send the model back to work, within maxTurns", async () => {
    let stops = 0;
    const stage = new Stage({
      replies: [{ text: "done?" }, { text: "done!" }],
      hooks: ({ event }) => {
        if (event !== "Stop") return {};
        stops += 1;
        return stops === 1 ? { blocked: true, reason: "run the tests first" } : {};
      },
    });
    expect(await stage.run("go")).toMatchObject({ outcome: "completed", text: "done!", turns: 2 });
    expect(stage.services.history.messages[2]).toEqual({ role: "user", content: "run the tests first" });
  });

  test("receive every step, in order", async () => {
    const stage = new Stage({ replies: [call("echo"), { text: "ok" }], tools: [testTool()] });
    await stage.run("go");
    expect(stage.hookInputs.map(({ event }) => event)).toEqual([
      "UserPromptSubmit",
      "BeforeModelRequest",
      "AfterModelResponse",
      "PreToolUse",
      "PostToolUse",
      "BeforeModelRequest",
      "AfterModelResponse",
      "Stop",
    ]);
  });
});

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setImmediate(resolve));
}
