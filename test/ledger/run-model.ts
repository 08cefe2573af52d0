// Runs the model against an implementation of the sessions layer: the real one must always agree, one with a bug must
// not.
import fc from "fast-check";
import type { Store } from "../../src/store/index.ts";
import { Clock } from "./clock.ts";
import { COMMANDS } from "./commands.ts";
import { createModel } from "./model.ts";
import { type Sessions, World } from "./world.ts";

/** As generated; commands that are impossible at their position are skipped, which leaves up to about 15. */
const MAX_COMMANDS = 24;

export interface ModelRun {
  sessions: Sessions;
  /** For one sequence; several may share a store. */
  store(): Store;
  sequences: number;
  seed?: number;
  /** Without it, stops at the first counterexample and does not shrink it. */
  shrink?: boolean;
}

/** Returns the counterexample, with the seed and path to repeat it, or undefined. */
export async function runModel({
  sessions,
  store,
  sequences,
  ...how
}: ModelRun): Promise<string | undefined> {
  const clock = new Clock();
  clock.install();
  let worlds = 0;
  const property = fc.asyncProperty(
    fc.commands(COMMANDS, { maxCommands: MAX_COMMANDS, size: "max" }),
    async (commands) => {
      worlds += 1;
      const session_ids = ["a", "b"].map((name) => `${name}${worlds}`);
      const world = new World({ sessions, store: store(), clock, session_ids });
      try {
        for (const index of session_ids.keys()) await world.open(index, true);
        await fc.asyncModelRun(() => ({ model: createModel(clock.nowMs), real: world }), commands);
      } finally {
        await world.end();
      }
    },
  );
  try {
    const details = await fc.check(property, {
      numRuns: sequences,
      endOnFailure: how.shrink !== true,
      ...(how.seed === undefined ? {} : { seed: how.seed }),
    });
    if (!details.failed) return undefined;
    return `${fc.defaultReportMessage(details)}\n${String((details.errorInstance as Error).stack)}`;
  } finally {
    clock.restore();
  }
}
