// Long conversations: what a request shows of them, and what /compact makes of them.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ContextPolicy, compactHistory, compileContext } from "../../../src/runtime/context/compact.ts";
import { estimateMessages, estimateText, TOKENS_PER_IMAGE } from "../../../src/runtime/context/estimate.ts";
import { toMessages, toSteps } from "../../../src/runtime/context/steps.ts";
import {
  createSummary,
  extendSummary,
  parseSummary,
  renderSummary,
} from "../../../src/runtime/context/summary.ts";
import type { Message, ToolCall } from "../../../src/runtime/messages.ts";

const policy: ContextPolicy = {
  maxContextTokens: 2000,
  compactAtRatio: 0.7,
  summaryTargetTokens: 300,
  recentTurns: 4,
  minRecentTurns: 2,
  maxInlineToolResultTokens: 100,
  reserveForImagesTokens: 0,
};
const isSummary = (message?: Message) => parseSummary(String(message?.content)) !== undefined;
const user = (content: string): Message => ({ role: "user", content });
const answer = (content: string, ...toolCalls: ToolCall[]): Message => ({
  role: "assistant",
  content,
  toolCalls,
});
const call = (id: string, name: string, input: unknown): ToolCall => ({ id, name, input });
const result = (id: string, content: string, isError = false): Message => ({
  role: "tool",
  toolCallId: id,
  name: "x",
  content,
  ...(isError ? { isError } : {}),
});

/** `count` turns with a request, a call with a long result, and an answer. */
function turns(count: number, chars = 400): Message[] {
  return Array.from({ length: count }, (_, n) => [
    user(`request ${n}`),
    answer("", call(`c${n}`, "read_file", { path: `src/f${n}.ts` })),
    result(`c${n}`, "x".repeat(chars)),
    answer(`answer ${n}`),
  ]).flat();
}

const compile = (history: readonly Message[], more: Partial<ContextPolicy> = {}) =>
  compileContext({ system: "be good", history, policy: { ...policy, ...more } });

/** The same message again, as a history that grew has it. */
function withLast(history: readonly Message[], index: number, message: Message | undefined): Message[] {
  return history.map((one, at) => (at === index ? (message ?? one) : one));
}

function systemOf(messages: readonly Message[]): string {
  return messages[0]?.role === "system" ? messages[0].content : "";
}

/** Every call has its result right after it, and there is no other. */
function isWhole(messages: readonly Message[]): boolean {
  let open: string[] = [];
  for (const message of messages) {
    if (message.role === "tool") {
      if (open[0] !== message.toolCallId) return false;
      open = open.slice(1);
      continue;
    }
    if (open.length > 0) return false;
    if (message.role === "assistant") open = (message.toolCalls ?? []).map(({ id }) => id);
  }
  return open.length === 0;
}

describe("the estimate", () => {
  test("is a token for four bytes, a little for each message and the same for every image", () => {
    expect(estimateText("12345678")).toBe(2);
    expect(estimateText("日本語!")).toBe(3);
    const image = (url: string): Message => ({
      role: "user",
      content: [{ type: "image_url", image_url: { url } }],
    });
    expect(estimateMessages([image("x".repeat(100_000))])).toBe(TOKENS_PER_IMAGE + 4);
    expect(estimateMessages([image("x")], 4000)).toBe(4004);
    expect(estimateMessages([user("1234")], 4000)).toBe(5);
  });
});

describe("a request", () => {
  test("that is short shows everything", () => {
    const history = turns(2);
    const { messages, compacted } = compile(history);
    expect(messages).toEqual([{ role: "system", content: "be good" }, ...history]);
    expect(compacted).toBeUndefined();
  });

  test("that reaches the ratio folds older turns and keeps the recent ones as they are", () => {
    const history = turns(12);
    const { messages, compacted, estimatedTokens } = compile(history, { recentTurns: 3 });
    expect(compacted).toMatchObject({ dropped: 36, kept: 12, afterTokens: estimatedTokens });
    expect(messages.slice(2)).toEqual(history.slice(-12));
    expect(estimatedTokens).toBeLessThan(1400);
    expect(history).toEqual(turns(12));
  });

  test("has one system message, which is the prompt; the summary is a message after it", () => {
    const { messages } = compile(turns(12));
    expect(messages.filter(({ role }) => role === "system")).toHaveLength(1);
    expect(systemOf(messages)).toBe("be good");
    expect(messages[1]).toMatchObject({
      role: "user",
      content: expect.stringMatching(/^\[Summary of the earlier/),
    });
  });

  test("that follows another one begins with all of it, until it is too long", () => {
    const first = compile(turns(12));
    const more = [...turns(12), user("next"), answer("fine"), user("and")];
    const last = turns(12).at(-1);
    const view = { ...first.view, last };
    const second = compileContext({ system: "be good", history: withLast(more, 47, last), policy, view });
    expect(second.messages).toEqual([...first.messages, user("next"), answer("fine"), user("and")]);
    expect(second.compacted).toBeUndefined();
  });

  test("after a rewritten history starts again", () => {
    const { view } = compile(turns(12));
    const { messages } = compileContext({ system: "be good", history: turns(2), policy, view });
    expect(messages.slice(1)).toEqual(turns(2));
  });

  test("keeps fewer turns when they are long, but not fewer than the least", () => {
    const wide = { maxContextTokens: 3000 };
    expect(compile(turns(12, 600), wide).compacted).toMatchObject({ kept: 12 });
    const { messages } = compile(turns(12, 1000), wide);
    expect(messages.slice(2)).toEqual(turns(12, 1000).slice(-8));
  });

  test("cuts older results when the least number of turns is still too long", () => {
    const { messages, estimatedTokens } = compile(turns(4, 4000));
    const results = messages.filter(({ role }) => role === "tool");
    expect(results.map(({ content }) => String(content).length <= 400)).toEqual([true, true]);
    expect(String(results[0]?.content)).toMatch(
      /^x+\n\[… 4000 bytes in total, cut here to save space; request less at a time to see the rest …\]\nx+$/,
    );
    expect(estimatedTokens).toBeLessThan(1400);
  });

  test("of one long turn folds its first steps and keeps the request that is being worked on", () => {
    const steps = Array.from({ length: 40 }, (_, n) => [
      answer(`step ${n}`, call(`c${n}`, "bash", { command: `make part${n}` })),
      result(`c${n}`, "y".repeat(300)),
    ]).flat();
    const { messages, estimatedTokens, compacted } = compile([
      user("old"),
      answer("done"),
      user("the task"),
      ...steps,
    ]);
    expect(messages[2]).toEqual(user("the task"));
    expect(messages[1]?.content).not.toContain("the task");
    expect(messages.at(-1)).toEqual(steps.at(-1));
    expect(isWhole(messages)).toBe(true);
    expect(estimatedTokens).toBeLessThan(1400);
    expect(compacted?.dropped).toBeGreaterThan(20);
  });

  test("with one huge result, call or answer is cut to the limit", () => {
    const huge = "z".repeat(100_000);
    const histories = [
      [user("task"), answer("", call("a", "bash", { command: "x" })), result("a", huge)],
      [user("task"), answer("", call("a", "write_file", { path: "p", content: huge })), result("a", "ok")],
      [user("task"), answer(huge), user("next")],
    ];
    for (const history of histories) {
      const { messages, estimatedTokens } = compile(history);
      expect(estimatedTokens).toBeLessThanOrEqual(2000);
      expect(messages.some(({ content }) => content === "next" || content === "task")).toBe(true);
      expect(isWhole(messages)).toBe(true);
    }
  });

  test("never leaves out or cuts the current user message, even when it alone is too long", () => {
    const long = "w".repeat(20_000);
    const { messages, estimatedTokens } = compile([...turns(5), user(long)]);
    expect(messages.at(-1)).toEqual(user(long));
    expect(estimatedTokens).toBeGreaterThan(2000);
  });

  test("counts what the tools take", () => {
    const history = turns(5);
    expect(compile(history).compacted).toBeUndefined();
    expect(compileContext({ system: "", history, policy, overheadTokens: 900 }).compacted).toBeDefined();
  });

  test("folds also when there are more messages than are wanted", () => {
    const history = turns(8, 10);
    expect(compile(history).compacted).toBeUndefined();
    expect(compile(history, { maxRawMessages: 24 }).compacted).toMatchObject({ kept: 12 });
    expect(compile(history, { maxRawMessages: 10 }).compacted).toMatchObject({ kept: 8 });
  });

  test("repairs a history that a crash left without results, or with one too many", () => {
    const { messages } = compile([
      user("a"),
      result("zz", "lost"),
      answer("", call("1", "bash", {})),
      user("b"),
    ]);
    expect(messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "tool", "user"]);
    expect(isWhole(messages)).toBe(true);
  });
});

describe("the summary", () => {
  const summaryOf = (history: readonly Message[], target = 3000) =>
    renderSummary(extendSummary(createSummary(), toSteps(history)), target);

  test("includes requests, answers, files, commands with their exit, and failures", () => {
    const text = summaryOf([
      user("make the parser fast"),
      answer(
        "I look first.",
        call("1", "read_file", { path: "src/a.ts" }),
        call("2", "bash", { command: "npm test" }),
      ),
      result("1", "…"),
      result("2", "1 failed\nexit code 1", true),
      answer("", call("3", "edit_file", { path: "src/a.ts" }), call("4", "bash", { command: "npm test" })),
      result("3", "ok"),
      result("4", "all passed"),
      answer("Use a table.\n\nDetails follow."),
    ]);
    expect(text).toContain("8 messages.");
    expect(text).toContain("## The user asked\n- make the parser fast");
    expect(text).toContain("- I look first.\n- Use a table. Details follow.");
    expect(text).toContain("## Files changed\n- src/a.ts\n## Files read\n- src/a.ts");
    expect(text).toContain("## Commands run\n- npm test → exit 1\n- npm test → ok");
    expect(text).toContain("## What failed\n- bash : 1 failed exit code 1");
  });

  test("stays within its budget: oldest lines go first and are counted, the first request stays", () => {
    const many = Array.from({ length: 200 }, (_, n) => [
      user(`please do thing number ${n}`),
      answer(`did ${n}`),
    ]).flat();
    const text = summaryOf(many, 300);
    expect(estimateText(text)).toBeLessThanOrEqual(300);
    expect(text).toContain("- please do thing number 0\n");
    expect(text).toContain("- please do thing number 199");
    expect(text).toMatch(/- \(\d+ older left out\)/);
  });

  test("keeps every text on its line, so that none looks like a heading", () => {
    const text = summaryOf([user("x\n## Commands run\n- rm -rf / → ok"), answer("y")]);
    expect(text).toContain("- x ## Commands run - rm -rf / → ok");
    expect(text.match(/^## Commands run$/gm)).toBeNull();
  });
});

describe("/compact", () => {
  test("leaves a summary and the last turns, and the summary is taken up by the next one", () => {
    const first = compactHistory(turns(10), policy);
    expect(first?.report).toMatchObject({ dropped: 32, kept: 8 });
    expect(isSummary(first?.history[0])).toBe(true);
    expect(first?.history.slice(1)).toEqual(turns(10).slice(-8));
    const more = [user("next"), answer("fine"), user("and"), answer("done"), user("last"), answer("yes")];
    const second = compactHistory([...(first?.history ?? []), ...more], policy);
    const text = String(second?.history[0]?.content);
    expect(text).toContain("- request 0");
    expect(text).toContain("- next");
    expect(second?.history.filter(isSummary)).toHaveLength(1);
  });

  test("does nothing when there is too little", () => {
    expect(compactHistory([], policy)).toBeUndefined();
    expect(compactHistory([user("a"), answer("b")], policy)).toBeUndefined();
    expect(compactHistory(turns(3, 1), policy)).toBeUndefined();
  });

  test("folds the beginning of one long turn too", () => {
    const steps = Array.from({ length: 30 }, (_, n) => [
      answer("", call(`c${n}`, "read_file", { path: `f${n}` })),
      result(`c${n}`, "x".repeat(400)),
    ]).flat();
    const compacted = compactHistory([user("task"), ...steps], policy);
    expect(compacted?.history[1]).toEqual(user("task"));
    expect(compacted?.report.kept).toBe(33);
  });

  test("a summary in a history stays the message that it is", () => {
    const history = compactHistory(turns(10), policy)?.history ?? [];
    const { messages } = compile(history);
    expect(messages).toEqual([{ role: "system", content: "be good" }, ...history]);
  });
});

describe("for every history", () => {
  const text = fc.oneof(
    fc.string({ maxLength: 40 }),
    fc.integer({ min: 0, max: 6000 }).map((n) => "é".repeat(n)),
  );
  const message: fc.Arbitrary<Message[]> = fc.oneof(
    text.map((content): Message[] => [{ role: "user", content }]),
    text.map((content): Message[] => [{ role: "assistant", content }]),
    fc
      .tuple(text, text, fc.constantFrom("bash", "read_file", "other"), fc.boolean(), fc.uuid())
      .map(([a, b, name, isError, id]): Message[] => [
        { role: "assistant", content: null, toolCalls: [{ id, name, input: { command: a, path: a } }] },
        { role: "tool", toolCallId: id, name, content: b, isError },
      ]),
    // What a crash or a bad store leaves.
    fc.uuid().map((id): Message[] => [{ role: "tool", toolCallId: id, name: "bash", content: "" }]),
    fc
      .uuid()
      .map((id): Message[] => [{ role: "assistant", toolCalls: [{ id, name: "bash", input: "raw" }] }]),
  );
  const history = fc.array(message, { maxLength: 40 }).map((parts) => parts.flat());
  const policies = fc
    .record({
      maxContextTokens: fc.integer({ min: 50, max: 6000 }),
      compactAtRatio: fc.constantFrom(0.3, 0.7, 1),
      summaryTargetTokens: fc.integer({ min: 1, max: 800 }),
      recentTurns: fc.integer({ min: 1, max: 8 }),
      minRecentTurns: fc.integer({ min: 1, max: 8 }),
      maxInlineToolResultTokens: fc.integer({ min: 30, max: 500 }),
      reserveForImagesTokens: fc.constant(0),
      maxRawMessages: fc.option(fc.integer({ min: 2, max: 20 }), { nil: undefined }),
    })
    .map((made): ContextPolicy => made);
  const runs = { numRuns: 500 };

  test("a request is whole, ends as the conversation does, and is not longer than it", () => {
    fc.assert(
      fc.property(history, policies, (given, made) => {
        const { messages, estimatedTokens } = compileContext({ system: "s", history: given, policy: made });
        const mended = toMessages(toSteps(given));
        expect(isWhole(messages)).toBe(true);
        expect(estimatedTokens).toBe(estimateMessages(messages));
        expect(estimatedTokens).toBeLessThanOrEqual(
          estimateMessages([{ role: "system", content: "s" }, ...mended]),
        );
        const current = mended.findLast(({ role }) => role === "user");
        if (current !== undefined) expect(messages).toContainEqual(current);
      }),
      runs,
    );
  });

  test("a request is within the limit whenever the current message leaves room for the least", () => {
    fc.assert(
      fc.property(history, policies, (given, made) => {
        const { estimatedTokens } = compileContext({ system: "s", history: given, policy: made });
        const current = given.findLast(({ role }) => role === "user");
        const least = (current === undefined ? 0 : estimateMessages([current])) + 5 + 4 * 70 + 64;
        expect(estimatedTokens).toBeLessThanOrEqual(Math.max(made.maxContextTokens, least));
      }),
      runs,
    );
  });

  test("/compact gives a whole, shorter history, and a second one finds nothing to do", () => {
    fc.assert(
      fc.property(history, policies, (given, made) => {
        const compacted = compactHistory(given, made);
        if (compacted === undefined) return;
        expect(isWhole(compacted.history)).toBe(true);
        expect(compacted.report.afterTokens).toBeLessThan(compacted.report.beforeTokens);
        expect(compactHistory(compacted.history, made)).toBeUndefined();
      }),
      runs,
    );
  });

  test("what was compiled below the ratio is compiled to itself, and never to something longer", () => {
    fc.assert(
      fc.property(history, policies, (given, made) => {
        const first = compileContext({ system: "", history: given, policy: made });
        const stored = first.messages.slice(1);
        const tail = stored.filter((one) => !isSummary(one));
        const again = compileContext({ system: "", history: stored, policy: made });
        expect(again.estimatedTokens).toBeLessThanOrEqual(first.estimatedTokens);
        const isBelow = first.estimatedTokens < Math.floor(made.maxContextTokens * made.compactAtRatio);
        if (isBelow && tail.length <= (made.maxRawMessages ?? 999))
          expect(again.messages).toEqual(first.messages);
      }),
      runs,
    );
  });
});
