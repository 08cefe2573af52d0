// Maps items with limited concurrency, and yields to the event loop between groups, so that looking at hundreds of files or
// processes blocks no one.

export async function mapBounded<T, R>(
  items: readonly T[],
  parallel: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  for (let at = 0; at < items.length; at += parallel) {
    results.push(...(await Promise.all(items.slice(at, at + parallel).map(work))));
    if (at + parallel < items.length) await new Promise((resolve) => setImmediate(resolve));
  }
  return results;
}
