import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { backendFigures, bucketTurns, percentile, toolFigures } from "../../../web/src/charts/figures.ts";
import { toolStat, turnStat } from "../support.ts";

describe("turns in buckets", () => {
  test("counts a turn where it ended, and leaves out what ended before the first", () => {
    const turns = [
      turnStat(5, { ended_at_ms: 12, input_tokens: 100, output_tokens: 10, cost_usd: 0.5 }),
      turnStat(19, { ended_at_ms: 20, input_tokens: 1 }),
      turnStat(25),
      turnStat(1, { ended_at_ms: 9, input_tokens: 999 }),
    ];
    expect(bucketTurns(turns, [10, 20])).toEqual([
      { start_ms: 10, turns: 1, input_tokens: 100, output_tokens: 10, cost_usd: 0.5 },
      { start_ms: 20, turns: 2, input_tokens: 1, output_tokens: 0, cost_usd: 0 },
    ]);
  });

  test("loses no token, whatever the buckets are", () => {
    const moments = fc.array(fc.nat(1_000), { maxLength: 50 });
    fc.assert(
      fc.property(moments, fc.uniqueArray(fc.nat(1_000), { minLength: 1 }), (ends, cuts) => {
        const starts = [0, ...cuts.filter((cut) => cut > 0).sort((a, b) => a - b)];
        const buckets = bucketTurns(
          ends.map((end) => turnStat(0, { ended_at_ms: end, input_tokens: end })),
          starts,
        );
        const sum = (list: readonly number[]): number => list.reduce((total, one) => total + one, 0);
        expect(sum(buckets.map(({ input_tokens }) => input_tokens))).toBe(sum(ends));
      }),
    );
  });
});

describe("percentiles", () => {
  test("are values that were measured, by nearest rank", () => {
    expect(percentile([5, 1, 3, 2, 4], 50)).toBe(3);
    expect(percentile([1, 2, 3, 4], 50)).toBe(2);
    expect(percentile([7], 95)).toBe(7);
    expect(percentile([], 50)).toBeUndefined();
    expect(
      percentile(
        Array.from({ length: 100 }, (_, at) => 100 - at),
        95,
      ),
    ).toBe(95);
  });

  test("leave at least that percentage at or below them", () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(500), { minLength: 1 }),
        fc.integer({ min: 1, max: 100 }),
        (values, per_cent) => {
          const found = percentile(values, per_cent);
          const below = values.filter((value) => value <= (found ?? -1)).length;
          expect(values).toContain(found);
          expect(below / values.length).toBeGreaterThanOrEqual(per_cent / 100 - 1e-9);
        },
      ),
    );
  });
});

describe("figures by tool and agent", () => {
  test("puts the tool first that took the most time, and counts calls without a time", () => {
    const tools = [
      toolStat("Read", 10),
      toolStat("Bash", 400, { status: "failed" }),
      toolStat("Bash", 200),
      toolStat("Bash", undefined, { status: "running" }),
    ];
    expect(toolFigures(tools)).toEqual([
      { tool: "Bash", count: 3, failed: 1, p50_ms: 200, p95_ms: 400, total_ms: 600 },
      { tool: "Read", count: 1, failed: 0, p50_ms: 10, p95_ms: 10, total_ms: 10 },
    ]);
  });

  test("takes a tool named like a part of every object for a name", () => {
    expect(
      toolFigures([toolStat("__proto__", 1), toolStat("constructor", 2)]).map(({ tool }) => tool),
    ).toEqual(["constructor", "__proto__"]);
  });

  test("sums an agent's turns; one that still runs is busy until now", () => {
    const turns = [
      turnStat(0, {
        backend: "codex",
        ended_at_ms: 100,
        input_tokens: 5,
        cost_usd: 0.25,
        time_to_first_token_ms: 30,
      }),
      turnStat(900, { backend: "codex", status: "failed", output_tokens: 2 }),
      turnStat(0, { backend: "claude", ended_at_ms: 1 }),
    ];
    const [codex, claude] = backendFigures({ turns, waits: [], until_ms: 1_000 });
    expect(codex).toEqual({
      ...{ backend: "codex", turns: 2, failed: 1, input_tokens: 5, output_tokens: 2 },
      ...{ cost_usd: 0.25, busy_ms: 200, first_token_ms: 30 },
    });
    expect(claude).toMatchObject({ backend: "claude", first_token_ms: undefined });
  });

  test("knows no time of a tool of which no call has ended", () => {
    const [asked] = toolFigures([toolStat("AskUserQuestion", undefined, { status: "waiting" })]);
    expect(asked).toMatchObject({ count: 1, p50_ms: undefined, p95_ms: undefined, total_ms: 0 });
  });

  test("does not call an agent busy while its turn waits for the user, nor counts a wait twice", () => {
    const wait = (request_id: string, started_at_ms: number, ended_at_ms?: number) => ({
      ...{ session_id: "s", request_id, started_at_ms },
      ...(ended_at_ms === undefined ? {} : { ended_at_ms }),
    });
    const turns = [turnStat(100, { session_id: "s", ended_at_ms: 500 }), turnStat(600, { session_id: "s" })];
    const waits = [wait("c", 900), wait("b", 250, 350), wait("a", 200, 300), wait("other", 0, 50)];
    const busy = (some: typeof waits) => backendFigures({ turns, waits: some, until_ms: 1_000 })[0]?.busy_ms;
    expect(busy([])).toBe(400 + 400);
    expect(busy(waits)).toBe(250 + 300);
    expect(busy(waits.map((one) => ({ ...one, session_id: "another" })))).toBe(800);
  });
});
