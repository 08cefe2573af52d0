// One message to Claude Code: which session it resumes, how a new one is reported, what it may cost.
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { toNoticeMessage } from "../../../../src/runtime/external/claude-code/notice.ts";
import { ClaudeFailure } from "../../../../src/runtime/external/claude-code/transport.ts";
import type { ExternalTurn } from "../../../../src/runtime/external/types.ts";
import type { Message } from "../../../../src/runtime/messages.ts";
import { AGENT, RunStage } from "./run-stage.ts";

let stage: RunStage;
beforeEach(() => {
  stage = new RunStage();
});
afterEach(() => stage.close());

describe("36: session mapping", () => {
  test("a second message resumes the session of the first, also in another process", async () => {
    expect(await stage.run()).toMatchObject({ outcome: "completed", text: "hi" });
    await stage.run();
    const [id] = stage.known;
    expect(stage.resumed).toEqual([undefined, id]);
    expect(stage.splits).toEqual([]);
  });

  test("another session of ours has its own, and nothing is reported", async () => {
    await stage.run();
    await stage.run({}, { rootSessionId: "ses_two" });
    expect(stage.resumed).toEqual([undefined, undefined]);
    expect(stage.splits).toEqual([]);
  });

  const changes: [reason: string, turn: Partial<ExternalTurn>, config: object][] = [
    ["model", { model: "opus" }, {}],
    ["profile", { profile: "claudecode-plan" }, {}],
    ["cwd", { cwd: "/" }, {}],
    ["agent", { agent: { ...AGENT, name: "other" } }, {}],
    ["instructions", { agent: { ...AGENT, prompt: { system: "You build well." } } }, {}],
    ["permissions", { globalRules: [{ tool: "claudecode.Bash", decision: "deny" }] }, {}],
    ["permissions", { globalRules: [{ tool: "*", decision: "ask" }] }, {}],
    ["permissions", { agent: { ...AGENT, permissions: [{ tool: "*.Bash", decision: "deny" }] } }, {}],
    ["permissions", {}, { permissionMode: "plan" }],
    ["permissions", {}, { defaultDecision: "allow" }],
    ["permissions", {}, { allowSubagents: true }],
    ["agent,model", { model: "opus", agent: { ...AGENT, name: "other" } }, {}],
  ];
  test.each(changes)(
    "another %s starts a new session, which is reported first",
    async (reason, turn, config) => {
      await stage.run();
      await stage.run(config, turn);
      expect(stage.resumed).toEqual([undefined, undefined]);
      expect(stage.splits).toEqual([reason]);
      // Back again: the first one is still there.
      await stage.run();
      expect(stage.resumed[2]).toBe([...stage.known][0]);
    },
  );

  test.each([
    { globalRules: [{ tool: "bash", decision: "deny" }] },
    { globalRules: [{ tool: "demian.bash", decision: "allow" }] },
    { systemPrompt: "You build.\n\nDate: tomorrow" },
    { maxTurns: 99 },
  ] as const)("what does not concern Claude Code changes nothing: %j", async (turn) => {
    await stage.run();
    await stage.run({}, turn);
    expect(stage.resumed[1]).toBe([...stage.known][0]);
  });

  test("the first message after another provider says that Claude Code knows nothing of it", async () => {
    const history: Message[] = [
      { role: "user", content: "earlier" },
      { role: "assistant", content: "yes" },
    ];
    await stage.run({}, { history });
    await stage.run({}, { history });
    expect(stage.splits).toEqual(["provider"]);
  });

  test("a sub-agent is no change of the main agent, and has its own memory", async () => {
    await stage.run();
    const reviewer = { agent: { ...AGENT, name: "reviewer" }, agentPath: ["reviewer"], history: [] };
    await stage.run({}, reviewer);
    await stage.run();
    await stage.run({}, reviewer);
    const [main, sub] = stage.known;
    expect(stage.resumed).toEqual([undefined, undefined, main, sub]);
    expect(stage.splits).toEqual([]);
    await stage.run({}, { model: "opus" });
    expect(stage.splits).toEqual(["model"]);
  });

  test("stateless: every message starts a new session; nothing is kept or reported", async () => {
    await stage.run({ historyPolicy: "stateless" });
    await stage.run({ historyPolicy: "stateless" });
    expect(stage.resumed).toEqual([undefined, undefined]);
    expect(stage.splits).toEqual([]);
    expect(() => readdirSync(stage.stateDirectory)).toThrow("ENOENT");
  });

  test("stateless: what was kept before is not gone on with", async () => {
    await stage.run();
    await stage.run({ historyPolicy: "stateless" });
    expect(stage.resumed).toEqual([undefined, undefined]);
  });

  test("a session that Claude Code itself replaces (/clear) is the one to resume", async () => {
    const fresh = "11111111-1111-4111-8111-111111111111";
    stage.known.add(fresh);
    stage.script = async function* (order) {
      yield* stage.answer(order);
      yield { type: "system", subtype: "init", session_id: fresh };
    };
    await stage.run();
    stage.script = undefined;
    await stage.run();
    expect(stage.resumed[1]).toBe(fresh);
  });

  test("an invalid id is never kept: it would become an argument", async () => {
    stage.script = async function* (order) {
      for await (const message of stage.answer(order)) yield { ...message, session_id: "--danger" };
    };
    await stage.run();
    await stage.run();
    expect(stage.resumed).toEqual([undefined, undefined]);
    expect(stage.warnings).toEqual([]);
  });

  test("a damaged map is set aside with a warning; the message is sent", async () => {
    mkdirSync(stage.stateDirectory, { recursive: true, mode: 0o700 });
    writeFileSync(join(stage.stateDirectory, "claude-code-sessions.json"), '{"version":1,"sess', {
      mode: 0o600,
    });
    expect(await stage.run()).toMatchObject({ outcome: "completed" });
    expect(stage.warnings).toEqual([expect.stringMatching(/is damaged .* Claude Code starts new sessions/)]);
    await stage.run();
    expect(stage.resumed[1]).toBe([...stage.known][0]);
  });
});

describe("36: invalid resume", () => {
  const history: Message[] = [
    { role: "user", content: "the heron is blue" },
    { role: "assistant", content: "noted" },
  ];
  /** The session of the first message is gone. */
  async function lost(config: object, turn: Parameters<RunStage["run"]>[1] = {}) {
    await stage.run(config, turn);
    stage.known.clear();
    return stage.run(config, { history, ...turn }, { questionLimitMs: 50 });
  }

  test("fresh: it starts a new session, and reports it", async () => {
    expect(await lost({})).toMatchObject({ outcome: "completed", text: "hi" });
    expect(stage.orders.slice(1).map(({ resume, prompt }) => [resume !== undefined, prompt])).toEqual([
      [true, "hello"],
      [false, "hello"],
    ]);
    expect(stage.splits).toEqual(["invalid_resume"]);
    await stage.run();
    expect(stage.resumed.at(-1)).toBe([...stage.known][0]);
  });

  test("a session that is gone is forgotten, even if the next one does not begin", async () => {
    await stage.run();
    stage.known.clear();
    stage.script = async function* (order) {
      if (order.resume === undefined) throw new ClaudeFailure("died", "gone");
      yield* stage.answer(order);
    };
    expect(await stage.run()).toMatchObject({ outcome: "failed" });
    stage.script = undefined;
    await stage.run();
    expect(stage.resumed).toEqual([undefined, expect.any(String), undefined, undefined]);
  });

  test("auto-recover: the prompt starts with a summary of limited size", async () => {
    const long = { role: "user", content: `x${"y".repeat(1_000_000)}` } as const;
    await lost({ onInvalidResume: "auto-recover" }, { history: [...history, ...Array(300).fill(long)] });
    const prompt = stage.orders.at(-1)?.prompt ?? "";
    expect(prompt).toContain("the heron is blue");
    expect(prompt).toMatch(/\[Answer this message\]\nhello$/);
    expect(prompt.length).toBeLessThan(40_000);
  });

  test.each([
    ["Start a new session", "hello", "completed"],
    ["Start a new session with a summary of the conversation", "heron", "completed"],
    ["Do not send the message", undefined, "denied"],
    [undefined, "hello", "completed"],
  ])("prompt: the answer %s decides", async (answer, prompt, outcome) => {
    const report = await lost({ onInvalidResume: "prompt" }, { question: () => Promise.resolve(answer) });
    expect(report.outcome).toBe(outcome);
    expect(stage.orders).toHaveLength(prompt === undefined ? 2 : 3);
    if (prompt !== undefined) expect(stage.orders.at(-1)?.prompt).toContain(prompt);
    if (prompt === undefined) expect(report.message).toContain("no longer exists");
  });

  test("prompt: a missing answer is not waited for, and the question is aborted", async () => {
    let isOver = false;
    const report = await lost(
      { onInvalidResume: "prompt" },
      {
        question: (_question, signal) =>
          new Promise(() => {
            signal.addEventListener("abort", () => {
              isOver = true;
            });
          }),
      },
    );
    expect([report.outcome, isOver]).toEqual(["completed", true]);
  });

  test("prompt without a user to ask is fresh", async () => {
    expect(await lost({ onInvalidResume: "prompt" })).toMatchObject({ outcome: "completed" });
  });
});

describe("36: usage ledger", () => {
  test("a budget that is spent refuses the next message, with amount, scope and what to do", async () => {
    const config = { budgetUsd: 0.2, usageLedgerScope: "daily" };
    expect(await stage.run(config)).toMatchObject({ outcome: "completed", usage: { costUsd: 0.25 } });
    expect(stage.warnings).toEqual([
      expect.stringContaining("the next message to Claude Code will be refused"),
    ]);
    expect(await stage.run(config)).toMatchObject({
      outcome: "failed",
      message:
        "not sent to Claude Code: $0.25 of the $0.2 budget for claudecode was spent today; raise providers.claudecode.budgetUsd, or wait until tomorrow",
    });
    expect(stage.orders).toHaveLength(1);
  });

  test("a message may spend what is left of the budget, and no more", async () => {
    await stage.run({ budgetUsd: 1 });
    await stage.run({ budgetUsd: 1 });
    await stage.run();
    expect(stage.orders.map(({ maxBudgetUsd }) => maxBudgetUsd)).toEqual([1, 0.75, undefined]);
  });

  test("what an aborted or failed message cost counts as well", async () => {
    stage.script = async function* (order) {
      for await (const message of stage.answer(order)) {
        yield message.type === "result"
          ? { ...message, subtype: "error_during_execution", is_error: true }
          : message;
      }
    };
    const config = { budgetUsd: 0.2 };
    expect(await stage.run(config)).toMatchObject({ outcome: "failed" });
    expect(await stage.run(config)).toMatchObject({ message: expect.stringContaining("in this process") });
  });
});

describe("36: aborting", () => {
  function abortInTheMiddle(): AbortController {
    const controller = new AbortController();
    stage.script = async function* (order) {
      for await (const message of stage.answer(order)) {
        if (message.type === "result") break;
        yield message;
      }
      controller.abort();
      yield toNoticeMessage({ kind: "cancelled", text: "it stopped when interrupted; 7 ms" });
    };
    return controller;
  }

  test("record-only: the next message continues in the same session; the report says how it ended", async () => {
    const { signal } = abortInTheMiddle();
    expect(await stage.run({}, { signal })).toMatchObject({
      outcome: "aborted",
      text: "hi",
      message: "aborted (Claude Code: it stopped when interrupted; 7 ms)",
    });
    stage.script = undefined;
    await stage.run();
    expect(stage.resumed[1]).toBe([...stage.known][0]);
  });

  test("fresh: the next message starts a new session, and reports it", async () => {
    const { signal } = abortInTheMiddle();
    await stage.run({ abortPolicy: "fresh" }, { signal });
    expect(stage.splits).toEqual(["abort"]);
    stage.script = undefined;
    await stage.run({ abortPolicy: "fresh" });
    expect(stage.resumed).toEqual([undefined, undefined]);
  });

  test("a message that is already aborted is not sent", async () => {
    const signal = AbortSignal.abort();
    expect(await stage.run({}, { signal })).toMatchObject({ outcome: "aborted" });
    expect(stage.orders).toEqual([]);
    // Nor does it hold a session that was to be continued.
    await stage.run();
    expect(await stage.run({}, { signal })).toMatchObject({ outcome: "aborted" });
    expect(await stage.run()).toMatchObject({ outcome: "completed" });
  });
});

describe("35: before and around it", () => {
  test("without a login nothing is sent, and the error says what to do", async () => {
    const env = { HOME: stage.root, XDG_STATE_HOME: join(stage.root, "state") };
    expect(await stage.run({}, { env })).toMatchObject({
      outcome: "failed",
      failure: { kind: "auth", message: expect.stringContaining("/login") },
    });
    expect(stage.orders).toEqual([]);
    expect(await stage.run({ authPreflight: false }, { env })).toMatchObject({ outcome: "completed" });
  });

  test("the order is what was configured; keys stay out of its environment", async () => {
    const env = { ...stage.turn().env, ANTHROPIC_API_KEY: "sk-ant-secret" };
    await stage.run({ permissionMode: "plan", useBareMode: true }, { env }, { executable: "/x/claude" });
    await stage.run({ sanitizeApiKeyEnv: false }, { env });
    expect(stage.orders[0]).toMatchObject({
      permissionMode: "plan",
      bare: true,
      executable: "/x/claude",
      prompt: "hello",
      systemPrompt: "You build.",
      maxTurns: 10,
    });
    expect(stage.orders.map((order) => order.env["ANTHROPIC_API_KEY"])).toEqual([undefined, "sk-ant-secret"]);
  });

  test("an image that it cannot take: refused, or described", async () => {
    const parts = [{ type: "image_url", image_url: { url: "data:image/bmp;base64,AAAA" } }] as const;
    expect(await stage.run({}, { parts })).toMatchObject({
      outcome: "failed",
      message: expect.stringContaining("cannot read the image (image/bmp)"),
    });
    await stage.run({ attachmentFallback: "describe" }, { parts });
    expect(stage.orders).toMatchObject([{ images: [], prompt: expect.stringContaining("image/bmp") }]);
  });

  test("a transport that cannot run is a failed message with its error", async () => {
    // biome-ignore lint/correctness/useYield: it fails before the first message
    stage.script = async function* () {
      throw new ClaudeFailure("not_installed", "install it");
    };
    expect(await stage.run()).toMatchObject({
      outcome: "failed",
      message: expect.stringContaining("install it"),
    });
  });

  test("a login that is refused repeatedly ends the message at once", async () => {
    stage.script = async function* (order) {
      const retry = {
        type: "system",
        subtype: "api_retry",
        error_status: 401,
        error: "authentication_failed",
      };
      for (let attempt = 1; !order.signal.aborted && attempt < 10; attempt += 1) yield { ...retry, attempt };
    };
    const report = await stage.run();
    expect(report).toMatchObject({ outcome: "failed" });
    expect(stage.events.filter(({ type }) => type === "provider.retry").length).toBeLessThan(4);
  });

  test("what a transport has to say is a warning", async () => {
    stage.script = async function* (order) {
      yield toNoticeMessage({ kind: "warning", text: "a line was skipped" });
      yield* stage.answer(order);
    };
    await stage.run();
    expect(stage.warnings).toEqual(["a line was skipped"]);
  });
});
