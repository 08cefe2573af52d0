// What goes back to the agent that delegated.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { estimateText } from "../../../src/runtime/context/estimate.ts";
import { compactResult, type ResultOrder } from "../../../src/runtime/delegation/result.ts";

const refs = { invocationId: "inv_1", transcriptPath: ".demian/transcripts/ses_1/session.jsonl" };
function order(answer: string, more: Partial<ResultOrder> = {}): ResultOrder & { kept: string[] } {
  const kept: string[] = [];
  const keep = async (whole: string) => {
    kept.push(whole);
    return ".demian/tmp/call_1.txt";
  };
  return { answer, maxTokens: 1000, refs, keep, kept, ...more };
}

describe("27: delegate context and result caps: the result", () => {
  test("a short report goes back whole, with its reference, and nothing is kept", async () => {
    const given = order("  No bugs.\n");
    expect(await compactResult(given)).toBe(
      "No bugs.\n\n[Reference: invocation inv_1 in .demian/transcripts/ses_1/session.jsonl]",
    );
    expect(given.kept).toEqual([]);
    expect(await compactResult(order("x", { refs: { invocationId: "inv_2" } }))).toBe(
      "x\n\n[Reference: invocation inv_2]",
    );
  });

  test("a long one keeps its beginning and its end around a mark, and is kept whole in a file", async () => {
    const answer = `first ${"x".repeat(9000)} last`;
    const given = order(answer);
    const text = await compactResult(given);
    expect(estimateText(text)).toBeLessThanOrEqual(1000);
    expect(estimateText(text)).toBeGreaterThan(950);
    expect(text).toMatch(
      /^first x+\n\[… 9011 bytes in total, cut here to save space …\]\nx+ last\n\n\[Reference: invocation inv_1 in .*; the full report is in \.demian\/tmp\/call_1\.txt\]$/,
    );
    expect(given.kept).toEqual([answer]);
  });

  test("brief is shorter", async () => {
    const answer = "y".repeat(3000);
    expect(estimateText(await compactResult(order(answer)))).toBeGreaterThan(700);
    expect(estimateText(await compactResult(order(answer, { returnMode: "brief" })))).toBeLessThanOrEqual(
      400,
    );
  });

  test("that it could not be kept is said, and no report is said too", async () => {
    const keep = () => Promise.reject(new Error("disk full"));
    expect(await compactResult(order("z".repeat(9000), { keep }))).toMatch(
      /the full report could not be saved: disk full\]$/,
    );
    expect(await compactResult(order("\n"))).toMatch(/^The sub-agent gave no report\./);
  });

  test("never over the limit, for any report and any limit", async () => {
    const texts = fc
      .tuple(fc.constantFrom("é", "日", "x\n", "😀"), fc.nat(4000))
      .map(([unit, n]) => unit.repeat(n));
    const modes = fc.constantFrom("brief" as const, "normal" as const, undefined);
    await fc.assert(
      fc.asyncProperty(
        texts,
        fc.integer({ min: 1, max: 1500 }),
        modes,
        async (answer, maxTokens, returnMode) => {
          const text = await compactResult(order(answer, { maxTokens, returnMode }));
          expect(estimateText(text)).toBeLessThanOrEqual(maxTokens);
          expect(text).not.toContain("\ufffd");
        },
      ),
    );
  });
});
