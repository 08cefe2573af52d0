// The rules of a session's core, checked on random lists of commands. Returns the first counterexample, or undefined.
import fc from "fast-check";
import { COMMANDS, START } from "./commands.ts";
import { type Command, type Core, type Start, World } from "./world.ts";

export interface Sought {
  core: Core;
  sequences: number;
  seed: number;
  /** Steps from phase to phase that were taken. */
  seen?: Set<string>;
}

export function seek({ core, sequences, seed, seen }: Sought): string | undefined {
  const details = fc.check(
    fc.property(START, COMMANDS, (start, commands) => {
      const world = new World(core, start);
      for (const command of commands) world.run(command);
      if (seen !== undefined) for (const step of world.seen) seen.add(step);
      world.settle();
      world.checkEnd();
      // From any state: a close ends the session, and then every turn has its result.
      world.close("always");
      world.settle();
      world.checkEnd();
      if (world.state.phase.name !== "closed") throw new Error(`closing leads to ${world.state.phase.name}`);
      if (seen !== undefined) for (const step of world.seen) seen.add(step);
    }),
    { numRuns: sequences, seed },
  );
  if (!details.failed) return undefined;
  const { counterexample, errorInstance } = details;
  return `Counterexample: ${String(errorInstance)}\n${JSON.stringify(counterexample, null, 1)}`;
}

type Last = "interrupt" | "close" | "end";
const ORDERS: Last[][] = [
  ["interrupt", "close", "end"],
  ["interrupt", "end", "close"],
  ["close", "interrupt", "end"],
  ["close", "end", "interrupt"],
  ["end", "interrupt", "close"],
  ["end", "close", "interrupt"],
];

/** Interrupt, close and the end of the run, in every order, after the same start: the final state of each order. */
export function endings(core: Core, start: Start, commands: Command[]): string[] {
  return ORDERS.map((order) => {
    const world = new World(core, start);
    for (const command of commands) world.run(command);
    // Pending effects are finished and no new ones start: only these three are left.
    world.settle();
    world.quiet();
    for (const last of order) {
      if (last === "interrupt") world.run({ do: "interrupt", client: undefined });
      else if (last === "close") world.close("always");
      else world.end();
    }
    world.settle();
    world.checkEnd();
    const { phase, run, owner, requests, jobs, row } = world.state;
    const { stopped_at_ms: _when, last_result, last_active_at_ms: _active, spent, ...rest } = row;
    const kept = { ...rest, spent: { ...spent, wall_ms: 0 } };
    const outcome = { subtype: last_result?.subtype, error: last_result?.error };
    return JSON.stringify({ phase, run, owner, requests, jobs, kept, outcome });
  });
}
