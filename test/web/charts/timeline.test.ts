import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { layoutTimeline } from "../../../web/src/charts/timeline.ts";
import { turnStat } from "../support.ts";

const SPAN = { from_ms: 1_000, to_ms: 2_000 };

describe("the timeline", () => {
  test("places turns and the waits in them, cut to the span; what runs ends now", () => {
    const turns = [turnStat(900, { ended_at_ms: 1_250 }), turnStat(1_500)];
    const waits = [{ session_id: "s", request_id: "r", started_at_ms: 1_600, ended_at_ms: 1_700 }];
    const [lane] = layoutTimeline({ turns, waits }, SPAN);
    expect(lane?.turns.map(({ from, to, isOpen }) => [from, to, isOpen])).toEqual([
      [0, 0.25, false],
      [0.5, 1, true],
    ]);
    expect(lane?.waits.map(({ from, to }) => [from, to])).toEqual([[0.6, 0.7]]);
  });

  test("leaves out what is not in the span, and sessions without anything in it", () => {
    const turns = [turnStat(0, { ended_at_ms: 999 }), turnStat(3_000, { ended_at_ms: 3_001 })];
    expect(layoutTimeline({ turns, waits: [] }, SPAN)).toEqual([]);
  });

  test("puts the session first that was active last", () => {
    const turns = [
      turnStat(1_100, { session_id: "early", ended_at_ms: 1_200 }),
      turnStat(1_300, { session_id: "late", ended_at_ms: 1_400 }),
    ];
    expect(layoutTimeline({ turns, waits: [] }, SPAN).map(({ session_id }) => session_id)).toEqual([
      "late",
      "early",
    ]);
  });

  test("keeps a failed turn apart from the good one beside it", () => {
    const turns = [
      turnStat(1_000, { ended_at_ms: 1_500 }),
      turnStat(1_500, { ended_at_ms: 1_800, status: "failed" }),
    ];
    const [lane] = layoutTimeline({ turns, waits: [] }, SPAN);
    expect(lane?.turns.map(({ isBad }) => isBad)).toEqual([false, true]);
  });

  test("draws a bounded number of bars, and none is lost in them", () => {
    const turn = fc.record({ at: fc.nat(1_000_000), long: fc.nat(50), isBad: fc.boolean() });
    fc.assert(
      fc.property(fc.array(turn, { minLength: 1, maxLength: 3_000, size: "max" }), (list) => {
        const turns = list.map(({ at, long, isBad }) =>
          turnStat(at, { ended_at_ms: at + long, status: isBad ? "failed" : "success" }),
        );
        const [lane] = layoutTimeline({ turns, waits: [] }, { from_ms: 0, to_ms: 1_000_100 });
        const bars = lane?.turns ?? [];
        expect(bars.reduce((sum, { count }) => sum + count, 0)).toBe(list.length);
        expect(bars.length).toBeLessThanOrEqual(1_001);
        for (const bar of bars) expect(bar.to).toBeGreaterThanOrEqual(bar.from);
      }),
      { numRuns: 30 },
    );
  });
});
