// Agents outlive the daemon: eight sessions of four kinds of agents stream numbered ticks, three of them with an open
// approval most of the time, while the daemon is killed, replaced and stopped at random moments. Every tick is stored once
// and in order, every turn has one result, every approval takes effect once, and nothing is left at the end. OUTLIVE_KILLS,
// OUTLIVE_TAKEOVERS, OUTLIVE_STOPS and OUTLIVE_SEED set the size.
import { describe, expect, test } from "vitest";
import { figure } from "../crash/figure.ts";
import { IS_CHAOS, size } from "../support/sizes.ts";
import { ACP, CLAUDE, CODEX, DEMO, furnish } from "./kinds.ts";
import { prove } from "./proof.ts";
import { summarize } from "./summary.ts";

const KILLS = size("OUTLIVE_KILLS", 15);
const TAKEOVERS = size("OUTLIVE_TAKEOVERS", 1);
const STOPS = size("OUTLIVE_STOPS", 1);
const STOP_MS = IS_CHAOS ? 5_000 : 200;
const SEED = size("OUTLIVE_SEED", 1);
const LONG = { timeout: 3_600_000 };

const CAST = [
  { kind: CLAUDE, asks: false },
  { kind: CLAUDE, asks: true },
  { kind: CLAUDE, asks: false },
  { kind: CODEX, asks: true },
  { kind: CODEX, asks: false },
  { kind: ACP, asks: true },
  { kind: ACP, asks: false },
  { kind: DEMO, asks: false },
];

describe.skipIf(process.platform !== "linux")("agents outlive the daemon (found through /proc)", () => {
  test(
    "no tick, turn, message or approval is lost or doubled, whatever happens to the daemon",
    LONG,
    async () => {
      const report = await prove({
        ...furnish(),
        ...{ seed: SEED, cast: CAST, kills: KILLS, takeovers: TAKEOVERS, stops: STOPS, stopMs: STOP_MS },
      });
      for (const line of summarize(report)) figure(line);
      expect(report.faults).toEqual([]);
      // Checks the test itself: there was something to lose.
      expect(report.kills).toBe(KILLS);
      expect(report.turns).toBeGreaterThan(CAST.length);
      expect(report.frames).toBeGreaterThan(KILLS * 50);
      expect(report.openOverFaults).toBeGreaterThan(KILLS / 3);
      expect(report.adoptedMs.length).toBeGreaterThan(KILLS);
    },
  );
});
