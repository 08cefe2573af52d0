// How long the randomized tests run. The gate uses small sizes to stay quick; `npm run chaos` sets the full ones in the
// environment (scripts/chaos.mjs).

export const IS_CHAOS = process.env["CHAOS_SEEDS"] !== undefined;

/** The size set in the environment, or the gate's. */
export function size(name: string, gate: number): number {
  const wanted = Number(process.env[name] ?? Number.NaN);
  return Number.isInteger(wanted) && wanted > 0 ? wanted : gate;
}

/** The options of a fast-check property: twenty times as many runs in chaos. */
export function runs(gate: number): { numRuns: number } {
  return { numRuns: IS_CHAOS ? gate * 20 : gate };
}
