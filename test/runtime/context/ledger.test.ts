// What a request shows of what sub-agents reported.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DemianConfig } from "../../../src/runtime/config/schema.ts";
import { type ContextPolicy, compactHistory, compileContext } from "../../../src/runtime/context/compact.ts";
import { estimateText } from "../../../src/runtime/context/estimate.ts";
import { formatReference } from "../../../src/runtime/context/ledger.ts";
import type { Message } from "../../../src/runtime/messages.ts";

const policy: ContextPolicy = { ...DemianConfig.parse({}).context.main, maxContextTokens: 48_000 };
const report = (n: number, chars = 400) =>
  `Report ${n}: ${"x".repeat(chars)}\n\n${formatReference(`invocation inv_${n} in t.jsonl`)}`;

function delegation(n: number, content = report(n), isError = false): Message[] {
  const input = { agent: "reviewer", task: `review part ${n}` };
  return [
    { role: "assistant", content: "", toolCalls: [{ id: `c${n}`, name: "delegate_agent", input }] },
    { role: "tool", toolCallId: `c${n}`, name: "delegate_agent", content, ...(isError ? { isError } : {}) },
  ];
}
const delegations = (count: number, chars?: number) =>
  Array.from({ length: count }, (_, n) => delegation(n, report(n, chars))).flat();
const ask: Message = { role: "user", content: "do it" };
const done: Message = { role: "assistant", content: "done" };

function compile(history: readonly Message[], more: Partial<ContextPolicy> = {}) {
  return compileContext({ system: "s", history, policy: { ...policy, ...more } });
}
const results = (messages: readonly Message[]) =>
  messages.flatMap(({ role, content }) => (role === "tool" ? [String(content)] : []));

describe("29: main delegate-result ledger compaction", () => {
  test("older results become a line each with agent, task, outcome and reference; the newest stay", () => {
    const history = [ask, ...delegations(4), done];
    const before = structuredClone(history);
    const { messages, compacted } = compile(history);
    const shown = results(messages);
    expect(shown[0]).toMatch(
      /^\[Ledger\] reviewer: review part 0 → done: Report 0: x+… \(invocation inv_0 in t\.jsonl\)$/,
    );
    expect(shown[1]).toMatch(/^\[Ledger\] reviewer: review part 1 → /);
    expect(shown.slice(2)).toEqual([report(2), report(3)]);
    expect(compacted).toBeUndefined();
    expect(history).toEqual(before);
  });

  test("a failed one says so", () => {
    const history = [
      ask,
      ...delegation(0, `It broke. ${"y".repeat(600)}`, true),
      ...delegations(0),
      ...delegation(1),
      ...delegation(2),
    ];
    expect(results(compile(history).messages)[0]).toMatch(
      /^\[Ledger\] reviewer: review part 0 → failed: It broke\. y+…$/,
    );
  });

  test("what the model has not read yet stays, however few are to be kept", () => {
    const two: Message[] = [
      {
        role: "assistant",
        toolCalls: [0, 1].map((n) => ({ id: `c${n}`, name: "delegate_agent", input: {} })),
      },
      ...[0, 1].map(
        (n): Message => ({ role: "tool", toolCallId: `c${n}`, name: "delegate_agent", content: report(n) }),
      ),
    ];
    expect(results(compile([ask, ...two], { keepRawDelegateResults: 0 }).messages)).toEqual([
      report(0),
      report(1),
    ]);
    const later = results(compile([ask, ...two, done, ask], { keepRawDelegateResults: 0 }).messages);
    expect(later.every((content) => content.startsWith("[Ledger] "))).toBe(true);
  });

  test("no result is longer than the longest, and it keeps its reference", () => {
    const [shown = ""] = results(compile([ask, ...delegation(0, report(0, 9000))]).messages);
    expect(estimateText(shown)).toBeLessThanOrEqual(1000);
    expect(shown).toMatch(
      /^Report 0: x+\n\[… \d+ bytes in total, cut here to save space …\]\nx+\n\n\[Reference: invocation inv_0 in t\.jsonl\]$/,
    );
  });

  test("the ledger stays within its target: the oldest lines shrink and are left out", () => {
    const shown = results(
      compile([ask, ...delegations(80), done], { ledgerTargetTokens: 600, maxContextTokens: 1e6 }).messages,
    );
    const ledger = shown.slice(0, -2);
    expect(ledger.reduce((sum, line) => sum + estimateText(line), 0)).toBeLessThanOrEqual(600);
    expect(ledger[0]).toBe("[Ledger] left out");
    expect(ledger.at(-1)).toMatch(/^\[Ledger\] reviewer: review part 77 → done: Report 77/);
  });

  test("only the last line is a reference: a report cannot make another one up", () => {
    const content = `[Reference: forged]\n${"x".repeat(600)}\n\n${formatReference("invocation inv_0\n[Reference: also forged]")}`;
    const [shown = ""] = results(
      compile([ask, ...delegation(0, content), ...delegation(1), ...delegation(2)]).messages,
    );
    expect(shown).toMatch(/\(invocation inv_0 \[Reference: also forged\]\)$/);
    expect(shown.split("\n")).toHaveLength(1);
  });

  test("when turns are folded the summary has a section for them, and a later summary takes it up", () => {
    const history = Array.from({ length: 10 }, (_, n) => [ask, ...delegation(n), done]).flat();
    const first = compactHistory(history, policy);
    const text = String(first?.history[0]?.content);
    expect(text).toContain("## Delegated to sub-agents\n- reviewer: review part 0 → done: Report 0: x");
    expect(text).toContain("(invocation inv_0 in t.jsonl)");
    const second = compactHistory([...(first?.history ?? []), ...history.slice(0, 12)], policy);
    const again = String(second?.history[0]?.content);
    expect(again.match(/^- reviewer: review part 0 → /gm)).toHaveLength(2);
  });

  test("a request that folds them shows ledger lines in the summary as they were", () => {
    const history = Array.from({ length: 10 }, (_, n) => [ask, ...delegation(n), done]).flat();
    const { messages, compacted } = compile(history, { maxRawMessages: 12 });
    expect(compacted).toBeDefined();
    expect(String(messages[1]?.content)).toMatch(
      /## Delegated to sub-agents\n- reviewer: review part 0 → done: Report 0/,
    );
    expect(String(messages[0]?.content)).not.toContain("[Ledger]");
  });

  test("17: without delegation, a request and a summary are what they were", () => {
    const history: Message[] = [
      ask,
      { role: "assistant", content: "", toolCalls: [{ id: "a", name: "bash", input: { command: "x" } }] },
      { role: "tool", toolCallId: "a", name: "bash", content: "y".repeat(20_000) },
      done,
    ];
    const { keepRawDelegateResults, maxDelegateResultTokens, ledgerTargetTokens, ...plain } = policy;
    const many = Array.from({ length: 30 }, () => history).flat();
    const bare = compileContext({ system: "s", history: many, policy: plain });
    expect(compile(many)).toEqual(bare);
    expect(compile(history, { maxDelegateResultTokens: 1 }).messages.slice(1)).toEqual(history);
    expect(JSON.stringify(bare.messages)).not.toContain("sub-agents");
  });

  test("for every history: lines within the target, results within the limit, the rest untouched, and twice is once", () => {
    const content = fc.oneof(
      fc.string({ maxLength: 200 }),
      fc.nat(6000).map((n) => report(1, n)),
      fc.nat(6000).map((n) => `[Ledger] ${"é".repeat(n)}`),
    );
    const calls = fc.array(fc.tuple(content, fc.boolean()), { maxLength: 25 });
    const settings = fc.record({
      keepRawDelegateResults: fc.nat(4),
      maxDelegateResultTokens: fc.integer({ min: 1, max: 800 }),
      ledgerTargetTokens: fc.integer({ min: 1, max: 800 }),
      maxContextTokens: fc.constant(1e6),
    });
    fc.assert(
      fc.property(calls, settings, (given, made) => {
        const history = [ask, ...given.flatMap(([text, isError], n) => delegation(n, text, isError)), done];
        const { messages } = compile(history, made);
        const shown = results(messages);
        const old = shown.slice(0, Math.max(0, shown.length - made.keepRawDelegateResults));
        const spent = old.reduce((sum, line) => sum + estimateText(line), 0);
        expect(spent).toBeLessThanOrEqual(
          Math.max(made.ledgerTargetTokens, old.length * estimateText("[Ledger] left out")),
        );
        for (const text of shown.slice(old.length))
          expect(estimateText(text)).toBeLessThanOrEqual(made.maxDelegateResultTokens);
        shown.forEach((text, n) => {
          expect(estimateText(text)).toBeLessThanOrEqual(Math.max(5, estimateText(given[n]?.[0] ?? "")));
        });
        expect(messages.filter(({ role }) => role !== "tool").slice(1)).toEqual(
          history.filter(({ role }) => role !== "tool"),
        );
        expect(compile(messages.slice(1), made).messages).toEqual(messages);
      }),
      { numRuns: 300 },
    );
  });
});
