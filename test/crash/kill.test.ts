// kill -9 of the daemon with eight sessions streaming and three approvals pending, at random moments: nothing that a
// client saw is lost, no seq is missing or reused, each turn and each request ends once, nothing stays pending, no
// child is left. KILLS sets the number.
import { describe, expect, test } from "vitest";
import { seededRandom } from "../store/random.ts";
import { IS_CHAOS, size } from "../support/sizes.ts";
import { figure, spread } from "./figure.ts";
import { newReport, Site, type SiteReport, type StoreKind } from "./site.ts";
import { historyFaults } from "./tape.ts";

const KILLS = size("KILLS", 6);
const SEED = size("KILL_SEED", 1);
/** Then a new directory: histories would only get longer. */
const KILLS_PER_SITE = 5;
const LONG = { timeout: 1_800_000 };

describe.skipIf(process.platform !== "linux")("kill -9 (children are found through /proc)", () => {
  test("whatever a client saw survives, and every turn ends exactly once", LONG, async () => {
    const startedMs = performance.now();
    const kinds: StoreKind[] = ["sqlite", "jsonl"];
    const reports = await Promise.all(
      kinds.map((kind, at) => killMany(kind, SEED + at, Math.ceil(KILLS / kinds.length))),
    );
    for (const [at, report] of reports.entries()) {
      figure(summary(kinds[at] ?? "sqlite", report));
      expect(report.faults).toEqual([]);
      expect(report.lost).toBe(0);
      // Checks the test itself: there was something to lose, and there were children to clean up.
      expect(report.frames).toBeGreaterThan(report.kills * 50);
      expect(report.orphans).toBeGreaterThan(report.kills);
      expect(report.asked).toBeGreaterThan(report.kills);
      if (IS_CHAOS) expect(Math.max(...report.readyMs)).toBeLessThan(5_000);
    }
    figure(`kill -9: done in ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
  });

  test("the check notices a request that never ends, and one that ends twice", () => {
    const notice = (status: string) =>
      JSON.stringify({ type: "agent.notice", data: { request: { request_id: "r", status } } });
    const faults = (...states: string[]) =>
      historyFaults("s", new Map(states.map((status, at) => [at + 1, notice(status)])));
    expect(faults("pending", "orphaned")).toEqual([]);
    expect(faults("pending", "resolved", "orphaned")).toEqual([]);
    expect(faults("pending")).toHaveLength(1);
    expect(faults("pending", "resolved", "resolved")).toHaveLength(1);
    expect(faults("resolved")).toHaveLength(1);
  });

  test("the check notices a hole, a lost result and a duplicate one", () => {
    const started = JSON.stringify({ type: "agent.notice", data: { turn_id: "t" } });
    const result = JSON.stringify({ type: "agent.result", turn_id: "t" });
    const lines = (...all: string[]) => new Map(all.map((line, at) => [at + 1, line]));
    expect(historyFaults("s", lines(started, result))).toEqual([]);
    expect(historyFaults("s", lines(started))).toHaveLength(1);
    expect(historyFaults("s", lines(started, result, result))).not.toEqual([]);
    expect(historyFaults("s", new Map([[2, result]]))).toHaveLength(1);
  });
});

async function killMany(kind: StoreKind, seed: number, kills: number): Promise<SiteReport> {
  const random = seededRandom(seed);
  const total = newReport();
  while (total.kills < kills) {
    const site = new Site(kind, random);
    const count = Math.min(KILLS_PER_SITE, kills - total.kills);
    for (let n = 0; n < count; n += 1) await site.killOnce();
    await site.close();
    const { report } = site;
    total.kills += report.kills;
    total.lost += report.lost;
    total.frames += report.frames;
    total.asked += report.asked;
    total.orphans += report.orphans;
    for (const list of ["faults", "readyMs", "sweptMs"] as const)
      total[list].push(...(report[list] as never[]));
  }
  return total;
}

function summary(kind: StoreKind, report: SiteReport): string {
  const { kills, frames, asked, lost, faults, orphans, readyMs, sweptMs } = report;
  return (
    `kill -9, ${kind}: ${kills} kills, ${frames} frames, ${asked} requests, ${lost} lost, ${faults.length} faults; ` +
    `ready again in ${spread(readyMs)} ms; ${orphans} children gone ${spread(sweptMs)} ms after the kill`
  );
}
