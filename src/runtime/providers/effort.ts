// Reasoning effort: the levels of all vendors, from least to most.
export const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
export type Effort = (typeof EFFORTS)[number];

/** The nearest level that the vendor accepts; the lower one of two. */
export function pickNearestEffort<T extends Effort>(wanted: Effort, accepted: readonly T[]): T | undefined {
  const distance = (effort: Effort) => Math.abs(EFFORTS.indexOf(effort) - EFFORTS.indexOf(wanted));
  return accepted.toSorted((a, b) => distance(a) - distance(b) || EFFORTS.indexOf(a) - EFFORTS.indexOf(b))[0];
}
