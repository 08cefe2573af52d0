// The rules of a session's core, on random sequences with crashes, restores, adoptions, lost writes and outcomes in any
// order.
import fc from "fast-check";
import { expect, test } from "vitest";
import { PHASES } from "../../../src/sessions/core/phases.ts";
import { reduce } from "../../../src/sessions/core/reduce.ts";
import { restore } from "../../../src/sessions/core/restore.ts";
import { toRow } from "../../../src/sessions/core/state.ts";
import { IS_CHAOS, size } from "../../support/sizes.ts";
import { COMMANDS, START } from "./commands.ts";
import { endings, seek } from "./rules.ts";

const core = { reduce, restore, toRow };
const SEQUENCES = size("CORE_SEQUENCES", 4_000);
/** Known to pass through every phase, so that a transition that is not seen is never taken. */
const SEED = 5;
const LIMIT_MS = 600_000;
// The picture in the docs is drawn from this table.
const DRAWN = Object.entries(PHASES).flatMap(([name, { next }]) => next.map((to) => `${name} -> ${to}`));

test(
  "every turn has one result, a message leaves the queue once, nothing is reported before it is stored, and close closes",
  () => {
    const seen = new Set<string>();
    expect(seek({ core, sequences: SEQUENCES, seed: SEED, seen })).toBeUndefined();
    expect([...seen].sort()).toEqual(DRAWN.sort());
  },
  LIMIT_MS,
);

// Not in the gate, whose failures must be repeatable.
test.runIf(IS_CHAOS)(
  "the same, starting from a new seed each time",
  () => {
    const seen = new Set<string>();
    const seed = Number(process.env["CORE_SEED"] ?? Date.now() % 1_000_000);
    expect(seek({ core, sequences: SEQUENCES, seed, seen }), `CORE_SEED=${seed}`).toBeUndefined();
    expect(DRAWN).toEqual(expect.arrayContaining([...seen]));
  },
  LIMIT_MS,
);

test(
  "interrupt, close and the end of the agent lead to the same state in any order",
  () => {
    fc.assert(
      fc.property(START, COMMANDS, (start, commands) => {
        const ends = endings(core, start, commands);
        expect(new Set(ends).size, ends.join("\n")).toBe(1);
      }),
      { numRuns: Math.ceil(SEQUENCES / 10) },
    );
  },
  LIMIT_MS,
);
