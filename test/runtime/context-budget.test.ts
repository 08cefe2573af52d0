// How much one request shows: by the model, as configured, as the vendor's list says; and after it was refused as too long.
import { describe, expect, test } from "vitest";
import { DemianConfig } from "../../src/runtime/config/schema.ts";
import { deriveContextPolicy } from "../../src/runtime/context/budget.ts";
import type { ListModels } from "../../src/runtime/providers/models/list.ts";
import { createScriptedProvider, type ScriptedReply } from "../../src/runtime/providers/scripted/index.ts";
import type { Provider } from "../../src/runtime/providers/types.ts";
import { Stage, testTool } from "./stage.ts";

const limits = DemianConfig.parse({}).context.main;
const maxOf = (room: Parameters<typeof deriveContextPolicy>[1], configured?: number) =>
  deriveContextPolicy({ ...limits, maxContextTokens: configured }, room).maxContextTokens;

describe("the budget", () => {
  test("is what the model takes less its answer, at most 200,000, and 48,000 if unknown", () => {
    expect(maxOf({})).toBe(48_000);
    expect(maxOf({ windowTokens: 200_000 })).toBe(151_200);
    expect(maxOf({ windowTokens: 200_000, maxTokens: 8000 })).toBe(172_800);
    expect(maxOf({ windowTokens: 1_000_000 })).toBe(200_000);
    expect(maxOf({ windowTokens: 200_000, outputTokens: 4096 })).toBe(176_313);
    expect(maxOf({ windowTokens: 8192 })).toBe(5529);
  });

  test("that is configured wins over what the model takes", () => {
    expect(maxOf({ windowTokens: 8192 }, 60_000)).toBe(60_000);
    expect(maxOf({ windowTokens: 200_000 }, 10)).toBe(10);
  });

  test("is not raised again above what the provider refused", () => {
    expect(maxOf({ windowTokens: 200_000, learnedTokens: 7000 })).toBe(7000);
    expect(maxOf({ learnedTokens: 7000 }, 60_000)).toBe(7000);
  });

  test("of a small model leaves room beside the summary", () => {
    const { summaryTargetTokens, maxInlineToolResultTokens } = deriveContextPolicy(limits, {
      windowTokens: 8192,
    });
    expect([summaryTargetTokens, maxInlineToolResultTokens]).toEqual([691, 691]);
  });
});

const read = testTool({
  name: "read_file",
  execute: async () => ({ ok: true, content: "x".repeat(30_000) }),
});
const reads: ScriptedReply = { text: "", toolCalls: [{ name: "read_file", input: { path: "a" } }] };

function listing(
  tokens: number | undefined,
  replies: ScriptedReply[],
): { provider: Provider; asked: string[] } {
  const asked: string[] = [];
  const scripted = createScriptedProvider({ reply: () => replies.shift() ?? { text: "done" } });
  const listModels: ListModels = async ({ isCachedOnly }) => {
    asked.push(isCachedOnly === true ? "cache" : "list");
    if (isCachedOnly === true || tokens === undefined) return undefined;
    return [{ id: "m", contextTokens: tokens }];
  };
  return { provider: { ...scripted, listModels }, asked };
}
const limitsIn = (stage: Stage) => stage.of("context.compiled").map(({ limitTokens }) => limitTokens);

describe("a session", () => {
  test("asks the list once, and only when the conversation is long enough to matter", async () => {
    const { provider, asked } = listing(16_384, [{ text: "hello" }, reads, reads]);
    const stage = new Stage({ provider, tools: [read] });
    await stage.run("hi");
    expect(asked).toEqual(["cache"]);
    await stage.run("read");
    expect(asked).toEqual(["cache", "list"]);
    expect(limitsIn(stage)).toEqual([48_000, 48_000, 11_059, 11_059]);
    expect(stage.of("context.compiled").every(({ estimatedTokens }) => estimatedTokens <= 11_059)).toBe(true);
  });

  test("with a configured budget asks no list", async () => {
    const { provider, asked } = listing(16_384, [reads, reads]);
    const config = { context: { main: { maxContextTokens: 20_000 } } };
    const stage = new Stage({ provider, tools: [read], config });
    await stage.run("read");
    expect(asked).toEqual(["cache"]);
    expect(new Set(limitsIn(stage))).toEqual(new Set([20_000]));
  });
});

test("a model is asked as its facts allow, and its answers cost what its price says", async () => {
  const { provider } = listing(undefined, [{ text: "hi" }]);
  const facts = { tools: false, price: { input: 10, output: 100 } };
  const stage = new Stage({ provider, tools: [read], facts });
  await stage.run("hi");
  const [usage] = stage.of("model.usage");
  expect(usage?.costUsd).toBeCloseTo(
    ((usage?.inputTokens ?? 0) * 10 + (usage?.outputTokens ?? 0) * 100) / 1e6,
  );
  expect(stage.of("model.request")).toMatchObject([{ tools: 0 }]);
  expect(stage.of("warning").map(({ message }) => message)).toEqual([
    "m cannot call tools, so it can only answer",
  ]);
});

describe("a request that the provider finds too long", () => {
  const tooLong: ScriptedReply = { failure: { kind: "context_too_long", message: "too long" } };

  test.each([true, false])("is compacted and sent again, once (streaming: %s)", async (streaming) => {
    const stage = new Stage({
      replies: [reads, reads, reads, tooLong, { text: "fine" }],
      tools: [read],
      streaming,
    });
    const report = await stage.run("read it");
    expect(report).toMatchObject({ outcome: "completed", text: "fine" });
    expect(stage.of("warning").map(({ message }) => message)).toEqual([
      "script rejected the conversation as too long for m; it was compacted and resent",
    ]);
    const sizes = stage.of("context.compiled").map(({ estimatedTokens }) => estimatedTokens);
    expect(sizes[4]).toBeLessThan((sizes[3] ?? 0) * 0.7);
    // What was learned holds for the session.
    await stage.run("and now");
    expect(limitsIn(stage).slice(4)).toEqual(
      [sizes[3], sizes[3]].map((size) => Math.floor((size ?? 0) * 0.7)),
    );
  });

  test("twice ends the turn with what the provider said", async () => {
    const stage = new Stage({ replies: [reads, reads, tooLong, tooLong, { text: "never" }], tools: [read] });
    expect(await stage.run("read it")).toMatchObject({ outcome: "failed", message: "too long" });
    expect(stage.requests).toHaveLength(4);
  });

  test("is not sent again when there is nothing to leave out", async () => {
    const stage = new Stage({ replies: [tooLong, { text: "never" }] });
    expect(await stage.run("x".repeat(100_000))).toMatchObject({ outcome: "failed" });
    expect(stage.requests).toHaveLength(1);
  });
});
