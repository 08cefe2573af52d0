// Seeded randomness, so that a failing run can be repeated: `CHAOS_SEEDS` sets the number of seeds, a failure names its
// own.
import { size } from "../support/sizes.ts";

export type Random = (below: number) => number;

/** mulberry32: integers in [0, below). */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * below);
  };
}

export function seedCount(gate: number): number {
  return size("CHAOS_SEEDS", gate);
}

/** Runs every seed; the first that fails is named in the error. */
export function forEachSeed(count: number, run: (random: Random, seed: number) => void): void {
  for (let seed = 1; seed <= count; seed += 1) {
    try {
      run(seededRandom(seed), seed);
    } catch (cause) {
      throw new Error(`seed ${seed}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    }
  }
}
