// Over budget: which tool results give way, and what the mark of a cut says.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { DemianConfig } from "../../../src/runtime/config/schema.ts";
import { type ContextPolicy, compileContext } from "../../../src/runtime/context/compact.ts";
import { cutResult } from "../../../src/runtime/context/cut.ts";
import type { Message, ToolCall } from "../../../src/runtime/messages.ts";
import { readFileTool } from "../../../src/runtime/tools/read-file.ts";
import { Bench } from "../tools/run-tool.ts";

const policy: ContextPolicy = { ...DemianConfig.parse({}).context.main, maxContextTokens: 48_000 };
const user = (content: string): Message => ({ role: "user", content });
const call = (id: string, input: unknown, name = "read_file"): ToolCall => ({ id, name, input });
const step = (...made: [ToolCall, string][]): Message[] => [
  { role: "assistant", content: "", toolCalls: made.map(([one]) => one) },
  ...made.map(([{ id, name }, content]): Message => ({ role: "tool", toolCallId: id, name, content })),
];
const compile = (history: readonly Message[]) => compileContext({ system: "s", history, policy });
const results = (messages: readonly Message[]) =>
  messages.flatMap(({ role, content }) => (role === "tool" ? [String(content)] : []));
const page = (lines: number, from = 1) =>
  Array.from({ length: lines }, (_, n) => `${String(from + n).padStart(6)}\t${"x".repeat(107)}`).join("\n");

describe("over budget", () => {
  let bench: Bench;
  beforeEach(async () => {
    bench = await Bench.open();
  });
  afterEach(() => bench.close());

  test("a file of 228 kB that was just read fills the budget, and the mark says where to continue", async () => {
    bench.put("big.txt", `${"y".repeat(113)}\n`.repeat(2000));
    const { content } = await bench.run(readFileTool, { path: "big.txt" });
    expect(content.length).toBeGreaterThan(228_000);
    const { messages, estimatedTokens } = compile([
      user("read it"),
      ...step([call("a", { path: "big.txt" }), content]),
    ]);
    const [shown = ""] = results(messages);
    expect(shown.length).toBeGreaterThan(180_000);
    expect(estimatedTokens).toBeLessThanOrEqual(48_000);
    const last = Number(/lines 1-(\d+); continue with offset=(\d+) limit=\1\]$/.exec(shown)?.[1]);
    expect(shown).toContain(`\n${String(last).padStart(6)}\t`);
    expect(shown).toContain(`continue with offset=${last + 1} limit=`);
  });

  test("old results give way first: the newest stays whole while it fits", () => {
    const newest = page(900);
    const old = Array.from({ length: 8 }, (_, n) =>
      step([call(`o${n}`, { path: `f${n}` }), page(200)]),
    ).flat();
    const { messages, estimatedTokens } = compile([
      user("go"),
      ...old,
      ...step([call("n", { path: "g" }), newest]),
    ]);
    expect(results(messages).at(-1)).toBe(newest);
    expect(
      results(messages)
        .slice(0, -1)
        .every((content) => content.length <= 8000),
    ).toBe(true);
    expect(estimatedTokens).toBeLessThanOrEqual(48_000);
  });

  test("results of one answer share the room: short ones stay whole", () => {
    const history = [
      user("go"),
      ...step(
        [call("a", { path: "a" }), page(2000)],
        [call("b", { path: "b" }), page(20)],
        [call("c", { path: "c" }), page(2000)],
      ),
    ];
    const { messages, estimatedTokens } = compile(history);
    const [a = "", b, c = ""] = results(messages);
    expect(b).toBe(page(20));
    expect(Math.abs(a.length - c.length)).toBeLessThan(200);
    expect(estimatedTokens).toBeGreaterThan(45_000);
    expect(estimatedTokens).toBeLessThanOrEqual(48_000);
  });
});

describe("the mark of a cut", () => {
  test("of a page names the next offset, also of a page that did not begin at 1", () => {
    const cut = cutResult(page(100, 501), { call: call("a", {}), maxTokens: 600, isNewest: false });
    const last = Number(/lines 501-(\d+); continue with offset=\d+\]$/.exec(cut)?.[1]);
    expect(cut).toMatch(new RegExp(`continue with offset=${last + 1}\\]$`));
    expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(2400);
  });

  test("of long output names the file that holds all of it", () => {
    const content = `${"a".repeat(9000)}\n\n[… 5 of 9 bytes left out; the full output is in .demian/tmp/output-c1.txt …]\n\n${"b".repeat(9000)}`;
    const cut = cutResult(content, { call: call("a", {}, "bash"), maxTokens: 500, isNewest: true });
    expect(cut).toContain(
      "the full output is in .demian/tmp/output-c1.txt: use read_file with offset and limit …]",
    );
    expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(2000);
  });

  test("of anything else says to ask for less, and with no room for that is short", () => {
    const cut = (maxTokens: number) =>
      cutResult("z".repeat(9000), { call: call("a", {}, "grep"), maxTokens, isNewest: true });
    expect(cut(500)).toContain("cut here to save space; request less at a time to see the rest …]");
    expect(cut(60)).toContain("9000 bytes in total, cut here to save space …]");
  });
});
