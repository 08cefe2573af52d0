// Fair rounds: A, B, C, A, B, C …, so that a slow moment of the machine affects all alike; medians at the end.

/** @param {readonly number[]} values */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}

/**
 * @param {readonly number[]} values
 * @param {number} share
 */
export function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/**
 * The figures of each target, one per round.
 * @template {{ name: string }} T
 * @template F
 * @param {readonly T[]} targets
 * @param {number} count
 * @param {(target: T) => Promise<F>} run
 * @returns {Promise<Record<T["name"], F[]>>}
 */
export async function rounds(targets, count, run) {
  const all = /** @type {Record<string, F[]>} */ (Object.fromEntries(targets.map(({ name }) => [name, []])));
  for (let i = 0; i < count; i++) {
    for (const target of targets) all[target.name]?.push(await run(target));
  }
  return /** @type {Record<T["name"], F[]>} */ (all);
}

/**
 * A row of the table from the rounds of both sides.
 * @template H
 * @param {H} head
 * @param {number[]} values
 * @param {number[]} [reference]
 */
export function toRow(head, values, reference) {
  const row = { ...head, value: median(values), rounds: values };
  return reference === undefined
    ? row
    : { ...row, reference: median(reference), reference_rounds: reference };
}
