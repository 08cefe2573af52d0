// How often a property is tried: enough to find what is broken while one works; `npm run chaos` (CHAOS_SEEDS) looks
// twenty times as long.

export const IS_CHAOS = process.env["CHAOS_SEEDS"] !== undefined;

export function runs(usual: number): { numRuns: number } {
  return { numRuns: IS_CHAOS ? usual * 20 : usual };
}
