// One message to an agent with its own loop: hooks, history, events and the report around it.
import { describe, expect, test } from "vitest";
import { runExternalTurn } from "../../../src/runtime/external/turn.ts";
import type { ExternalCall, ExternalReport, ExternalTurn } from "../../../src/runtime/external/types.ts";
import type { UserMessage } from "../../../src/runtime/messages.ts";
import { Stage, type StageOptions } from "../stage.ts";

type Run = (turn: ExternalTurn) => Partial<ExternalReport> | Promise<Partial<ExternalReport>>;

function stage(run: Run, options: StageOptions = {}) {
  const basis = new Stage(options);
  const turns: ExternalTurn[] = [];
  const external = {
    executor: "claudecode",
    defaultDecision: "by-category" as const,
    plan: ({ tool, input }: ExternalCall) =>
      Promise.resolve({ title: tool, targets: [], isHarmless: false, input }),
    run: async (turn: ExternalTurn): Promise<ExternalReport> => {
      turns.push(turn);
      const usage = { inputTokens: 5, outputTokens: 2, costUsd: 0.25 };
      return { outcome: "completed", text: "done", turns: 1, usage, ...(await run(turn)) };
    },
  };
  const provider = { key: "cc", type: "claudecode", model: "sonnet", external };
  const host = {
    env: { HOME: "/h", OPENAI_API_KEY: "sk-other", ANTHROPIC_API_KEY: "sk-own", PATH: "/bin" },
    stateDirectory: "/state",
  };
  const services = { ...basis.services, host, provider };
  const send = (content: UserMessage["content"] = "go") =>
    runExternalTurn(services, { role: "user", content }, basis.abort.signal);
  return { send, turns, basis, services };
}

describe("a message", () => {
  test("is reported, answered, kept and counted", async () => {
    const { send, turns, basis } = stage(() => ({ turns: 2 }));
    const report = await send();
    expect(report).toEqual({
      outcome: "completed",
      text: "done",
      turns: 2,
      usage: { inputTokens: 5, outputTokens: 2, costUsd: 0.25 },
    });
    expect(basis.events.map(({ type }) => type)).toEqual([
      "user.message",
      "model.usage",
      "model.text",
      "turn.ended",
    ]);
    expect(basis.services.history.messages).toEqual([
      { role: "user", content: "go" },
      { role: "assistant", content: "done" },
    ]);
    expect(turns).toMatchObject([
      { text: "go", profile: "cc", model: "sonnet", systemPrompt: "be brief", stateDirectory: "/state" },
    ]);
  });

  test("comes with what was said before, and with its images", async () => {
    const before = [{ role: "user" as const, content: "earlier" }];
    const { send, turns } = stage(() => ({}), { history: before });
    const image = { type: "image_url" as const, image_url: { url: "http://127.0.0.1/a.png" } };
    await send([{ type: "text", text: "look" }, image]);
    expect(turns).toMatchObject([{ text: "look", parts: [image], history: before, agentPath: undefined }]);
  });

  test("carries no key of another provider", async () => {
    const { send, turns } = stage(() => ({}), {
      config: {
        providers: {
          openai: {
            type: "openai-compatible",
            model: "m",
            baseURL: "http://127.0.0.1:1/v1",
            apiKeyEnv: "OPENAI_API_KEY",
          },
        },
      },
    });
    await send();
    expect(turns[0]?.env).toMatchObject({ HOME: "/h", ANTHROPIC_API_KEY: "sk-own" });
    expect(turns[0]?.env).not.toHaveProperty("OPENAI_API_KEY");
  });

  test("that a hook changes is sent as changed, one that it blocks is not sent", async () => {
    const changed = stage(() => ({}), {
      hooks: ({ event }) => (event === "UserPromptSubmit" ? { patch: { prompt: "changed" } } : {}),
    });
    await changed.send();
    expect(changed.turns).toMatchObject([{ text: "changed" }]);
    const refused = stage(() => ({}), {
      hooks: ({ event }) => (event === "UserPromptSubmit" ? { blocked: true, reason: "no" } : {}),
    });
    expect(await refused.send()).toMatchObject({ outcome: "blocked", turns: 0 });
    expect(refused.turns).toEqual([]);
  });
});

describe("an answer", () => {
  const mask: StageOptions["hooks"] = ({ event, text }) =>
    event === "AfterModelResponse" ? { patch: { text: text?.replaceAll("secret", "***") } } : {};

  test("is kept, emitted and reported as hooks leave it, and so are intermediate texts", async () => {
    const { send, basis } = stage(
      ({ emit }) => {
        emit({ type: "model.text", text: "a secret first", final: false });
        emit({ type: "warning", message: "then this" });
        return { text: "the secret" };
      },
      { hooks: mask },
    );
    expect(await send()).toMatchObject({ text: "the ***" });
    expect(basis.events.slice(1)).toMatchObject([
      { type: "model.text", text: "a *** first", final: false },
      { type: "warning", message: "then this" },
      { type: "model.usage" },
      { type: "model.text", text: "the ***", final: true },
      { type: "turn.ended" },
    ]);
    expect(JSON.stringify(basis.services.history.messages)).not.toContain("secret");
  });

  test("on the way that a hook blocks ends the turn", async () => {
    const { send } = stage(
      async ({ emit, signal }) => {
        emit({ type: "model.text", text: "bad", final: false });
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        return { outcome: "aborted", text: "" };
      },
      {
        hooks: ({ event, text }) =>
          event === "AfterModelResponse" && text === "bad" ? { blocked: true, reason: "no" } : {},
      },
    );
    expect(await send()).toMatchObject({ outcome: "blocked", message: expect.stringMatching(/no/) });
  });

  test("that is a plan is reported as one, as hooks leave it", async () => {
    const { send } = stage(() => ({ text: "1. secret", plan: "1. secret" }), { hooks: mask });
    expect(await send()).toMatchObject({ text: "1. ***", plan: "1. ***" });
  });

  test("with which a Stop hook is not content is followed by another message", async () => {
    let stops = 0;
    const { send, turns, basis } = stage(() => ({}), {
      hooks: ({ event }) => {
        if (event !== "Stop") return {};
        stops += 1;
        return stops === 1 ? { blocked: true, reason: "and the tests?" } : {};
      },
    });
    const report = await send();
    expect(turns.map(({ text }) => text)).toEqual(["go", "and the tests?"]);
    expect(report).toMatchObject({ turns: 2, usage: { inputTokens: 10 } });
    expect(basis.services.history.messages).toHaveLength(4);
  });

  test("that never comes does not loop forever for a hook", async () => {
    const { send, turns } = stage(() => ({ turns: 0 }), {
      config: { maxTurns: 3 },
      hooks: ({ event }) => (event === "Stop" ? { blocked: true } : {}),
    });
    expect(await send()).toMatchObject({ outcome: "max_turns" });
    expect(turns).toHaveLength(3);
  });
});

describe("an end", () => {
  test("by failure is reported with it", async () => {
    const failure = { kind: "auth" as const, message: "log in" };
    const { send, basis } = stage(() => ({ outcome: "failed", text: "", failure, message: "log in" }));
    expect(await send()).toMatchObject({ outcome: "failed", failure, message: "log in" });
    expect(basis.of("model.failed")).toEqual([{ type: "model.failed", failure }]);
    expect(basis.of("turn.ended")).toMatchObject([{ outcome: "failed", failure }]);
  });

  test("by abort keeps half an answer", async () => {
    const { send, basis } = stage(() => {
      basis.abort.abort();
      return { outcome: "aborted", text: "half" };
    });
    expect(await send()).toMatchObject({ outcome: "aborted", text: "half" });
    expect(basis.services.history.messages.at(-1)).toEqual({ role: "assistant", content: "half" });
  });

  test("by a fault of ours is a failure, not an exception", async () => {
    const { send } = stage(() => Promise.reject(new Error("oops")));
    expect(await send()).toMatchObject({ outcome: "failed", message: expect.stringMatching(/oops.*bug/) });
  });

  test("comes after all earlier events, and so does every question", async () => {
    let before: string[] = [];
    const { send, basis } = stage(
      async ({ emit, decide, signal }) => {
        emit({ type: "model.text", text: "let me", final: false });
        await decide({ callId: "c1", tool: "TodoWrite", input: {} }, signal);
        return {};
      },
      {
        hooks: () => new Promise((resolve) => setImmediate(() => resolve({}))),
        decide: () => {
          before = basis.events.map(({ type }) => type);
          return Promise.resolve({ allowed: true, by: "rule", always: false });
        },
      },
    );
    await send();
    expect(before).toEqual(["user.message", "model.text"]);
    expect(basis.events.map(({ type }) => type)).toEqual([
      "user.message",
      "model.text",
      "permission.granted",
      "model.usage",
      "model.text",
      "turn.ended",
    ]);
  });
});
