// Tests the proof itself: it must find that frames are doubled if how far the agent was read is not stored with them.
import { describe, expect, onTestFinished, test } from "vitest";
import { figure } from "../crash/figure.ts";
import { ACP, CLAUDE, CODEX, furnish } from "./kinds.ts";
import { buildMutant } from "./mutant.ts";
import { prove } from "./proof.ts";

const LONG = { timeout: 300_000 };
/** It is stored with the next frames instead, as by a second write after the first. */
const STORED_APART = "[batch.run, this.late] = [this.late, run];";

describe.skipIf(process.platform !== "linux")("the proof that agents outlive the daemon", () => {
  test("finds frames that are doubled because the mark is stored apart from them", LONG, async () => {
    const { program, close } = await buildMutant({ "mark-with-its-frames": STORED_APART });
    onTestFinished(close);
    const cast = [CLAUDE, CODEX, ACP].map((kind) => ({ kind, asks: false }));
    const sizes = { kills: 4, takeovers: 0, stops: 0, stopMs: 0 };
    // A mark that is too far ahead loses a result instead: then the proof gives up waiting for its turn, and says so.
    const faults = await prove({ ...furnish(), program, cast, seed: 1, ...sizes }).then(
      (report) => report.faults,
      (error: Error) => [error.message],
    );
    figure(`outlive: ${faults.length} faults with the mark stored apart, e.g. ${faults[0]}`);
    // A result that is read twice ends the turn that follows it: its ticks are then outside of any turn.
    expect(faults.join("\n")).toMatch(/once too often|outside of a turn|^late\n/);
  });
});
