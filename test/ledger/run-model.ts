// Runs the model against a door of the sessions: the true one must always agree, one with a bug must not.
import fc from "fast-check";
import type { Store } from "../../src/store/index.ts";
import { Clock } from "./clock.ts";
import { COMMANDS } from "./commands.ts";
import { createModel } from "./model.ts";
import { type Sessions, World } from "./world.ts";

/** As generated; those that make no sense where they stand are left out, which leaves up to 15 or so. */
const MAX_COMMANDS = 24;

export interface ModelRun {
  sessions: Sessions;
  /** For one sequence; several may share one. */
  store(): Store;
  sequences: number;
  seed?: number;
  /** Without: the first counterexample is enough, and is not made smaller. */
  shrink?: boolean;
}

/** Gives the counterexample, with seed and path to run it again, or undefined. */
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
