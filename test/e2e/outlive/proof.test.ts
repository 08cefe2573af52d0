// The proof of test/outlive with real agents: eight sessions of claude, codex, demian and opencode stream numbered ticks
// and ask for approvals while the daemon is killed, replaced and stopped at random moments. OUTLIVE_KILLS,
// OUTLIVE_TAKEOVERS, OUTLIVE_STOPS and OUTLIVE_SEED set the size.
import { describe, expect, test } from "vitest";
import { figure } from "../../crash/figure.ts";
import { prove } from "../../outlive/proof.ts";
import { summarize } from "../../outlive/summary.ts";
import { IS_CHAOS, size } from "../../support/sizes.ts";
import { furnishRealAgents } from "./kinds.ts";

const KILLS = size("OUTLIVE_KILLS", 12);
const TAKEOVERS = size("OUTLIVE_TAKEOVERS", 2);
const STOPS = size("OUTLIVE_STOPS", 1);
const STOP_MS = IS_CHAOS ? 5_000 : 200;
const SEED = size("OUTLIVE_SEED", 1);
const LONG = { timeout: 3_600_000 };

describe.skipIf(process.platform !== "linux")("real agents outlive the daemon (found through /proc)", () => {
  test(
    "no tick, turn, message or approval is lost or doubled, whatever happens to the daemon",
    LONG,
    async () => {
      const { home, env, close, claude, codex, demian, opencode } = await furnishRealAgents();
      const cast = [claude, codex, demian, opencode].flatMap((kind) => [
        { kind, asks: true },
        { kind, asks: false },
      ]);
      const sizes = { kills: KILLS, takeovers: TAKEOVERS, stops: STOPS, stopMs: STOP_MS };
      const report = await prove({ home, env, cast, seed: SEED, ...sizes }).finally(close);
      for (const line of summarize(report)) figure(line);
      expect(report.faults).toEqual([]);
      // Checks the test itself: there was something to lose.
      expect(report.kills).toBe(KILLS);
      expect(report.turns).toBeGreaterThan(cast.length);
      expect(report.openOverFaults).toBeGreaterThan(KILLS / 3);
      expect(report.adoptedMs.length).toBeGreaterThan(KILLS);
    },
  );
});
