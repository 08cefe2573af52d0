// A measured figure, printed so that users see it and scripts/chaos.mjs finds it for its summary.

export function figure(text: string): void {
  console.log(`▸ ${text}`);
}

/** "median (largest)" */
export function spread(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b);
  return `${Math.round(sorted[sorted.length >> 1] ?? 0)} (${Math.round(sorted.at(-1) ?? 0)})`;
}
