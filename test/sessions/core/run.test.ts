// Backpressure and interrupts of one run, on the reducer.
import { expect, test } from "vitest";
import type { Happening } from "../../../src/sessions/core/inputs.ts";
import { reduce } from "../../../src/sessions/core/reduce.ts";
import { createInitialState } from "../../../src/sessions/core/restore.ts";
import { rowOf } from "../fakes.ts";

const RUN = "run";
const around = (isFull: boolean): Happening => ({
  kind: "around",
  around: { isFull, isOwed: false, isQuiet: false },
});
const INTERRUPT: Happening = { kind: "interrupt", job_id: "i" };
const INTERRUPTED: Happening = { kind: "interrupted", generation: RUN };

/** The effects of a session in the middle of a turn, input by input. */
function asked(...happenings: Happening[]): string[][] {
  const up: Happening[] = [
    { kind: "job", job: { kind: "begin", job_id: "b" } },
    { kind: "proceed" },
    { kind: "started", generation: RUN },
    { kind: "turn_started" },
  ];
  let state = createInitialState({ ...rowOf("s"), managed: true });
  return [...up, ...happenings]
    .map((happening) => {
      const reduced = reduce(state, { ...happening, at_ms: 1, id: RUN });
      state = reduced.state;
      return reduced.effects.flatMap((effect) =>
        effect.kind === "pause" ? [effect.isPaused ? "pause" : "go on"] : [effect.kind],
      );
    })
    .slice(up.length);
}

test("an agent is paused while its owner or the log is full", () => {
  expect(asked(around(true), around(true), around(false))).toEqual([["pause"], [], ["go on"]]);
});

test("a paused agent that is asked to stop is resumed, and not paused again before it has stopped", () => {
  const [paused, interrupt, full, done] = asked(around(true), INTERRUPT, around(true), INTERRUPTED);
  expect(paused).toEqual(["pause"]);
  expect(interrupt).toEqual(["log", "acknowledge", "go on", "interrupt"]);
  expect(full).toEqual([]);
  expect(done).toEqual(expect.arrayContaining(["publish", "write", "pause", "reply"]));
});
