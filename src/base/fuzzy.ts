// Fuzzy matching: which of many names a few typed letters mean. All letters must occur in order; matches in the last part of
// a path, at the start of words and next to each other rank higher, and shorter names before longer ones.

/** Higher is better; undefined if the letters do not occur in order. `lower`: the name in lower case. */
export function computeScore(query: string, lower: string): number | undefined {
  if (query === "") return -lower.length;
  const end = lower.endsWith("/") ? lower.length - 1 : lower.length;
  const start = lower.lastIndexOf("/", end - 1) + 1;
  const base = lower.slice(start, end);
  const length = lower.length / 4;
  if (base === query || lower === query) return 1000 - length;
  if (base.startsWith(query)) return 800 - length;
  if (base.includes(query)) return 600 - length;
  if (lower.includes(query)) return 500 - length;
  const inBase = scoreLetters(query, lower, start);
  if (inBase !== undefined) return 200 + inBase - length;
  const anywhere = scoreLetters(query, lower, 0);
  return anywhere === undefined ? undefined : anywhere - length;
}

/** The best `limit` names, best first; equal ones keep their order. */
export function findBestMatches<T>(
  query: string,
  items: Iterable<T>,
  { limit, toLower }: { limit: number; toLower: (item: T) => string },
): T[] {
  const letters = query.toLowerCase();
  const found: { item: T; score: number }[] = [];
  let least = Number.NEGATIVE_INFINITY;
  for (const item of items) {
    const score = computeScore(letters, toLower(item));
    if (score === undefined || score <= least) continue;
    found.push({ item, score });
    if (found.length < limit * 4) continue;
    found.sort((one, other) => other.score - one.score);
    found.length = limit;
    least = found.at(-1)?.score ?? least;
  }
  return found
    .sort((one, other) => other.score - one.score)
    .slice(0, limit)
    .map(({ item }) => item);
}

const WORD_START = 8;
const NEIGHBOR = 5;

function scoreLetters(query: string, lower: string, from: number): number | undefined {
  let score = 0;
  let before = -2;
  let at = from;
  for (const letter of query) {
    const found = lower.indexOf(letter, at);
    if (found < 0) return undefined;
    if (found === before + 1) score += NEIGHBOR;
    if (found === from || isBreak(lower, found - 1)) score += WORD_START;
    before = found;
    at = found + letter.length;
  }
  return score;
}

function isBreak(text: string, at: number): boolean {
  return at < 0 || "/._- ".includes(text[at] ?? "");
}
