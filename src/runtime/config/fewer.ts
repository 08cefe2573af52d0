// Limits the warnings about one file: an untrusted file could flood the others.

const MOST = 5;
const MOST_NAMES = 20;

/** The first ones, and how many more there are. */
export function limitWarnings(warnings: readonly string[], path: string): string[] {
  const more = warnings.length - MOST;
  if (more <= 1) return [...warnings];
  return [...warnings.slice(0, MOST), `${path}: and ${more} more like this`];
}

/** `a, b, c and 97 more` */
export function joinNames(names: readonly string[]): string {
  const more = names.length - MOST_NAMES;
  return more <= 0 ? names.join(", ") : `${names.slice(0, MOST_NAMES).join(", ")} and ${more} more`;
}
