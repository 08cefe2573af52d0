// Agent versions covered by the end-to-end tests, for `sm doctor` and the docs. A test compares this table with
// scripts/e2e-agents.mjs, which installs them.

export interface TestedAgent {
  /** The name of its program. */
  name: string;
  title: string;
  oldest: string;
  newest: string;
  /** The daemon finds it on the PATH without configuration. */
  isFound?: true;
}

export const TESTED_AGENTS: readonly TestedAgent[] = [
  { name: "claude", title: "Claude Code", oldest: "2.1.197", newest: "2.1.327", isFound: true },
  { name: "codex", title: "Codex", oldest: "0.166.0", newest: "0.169.0", isFound: true },
  { name: "opencode", title: "opencode", oldest: "1.18.33", newest: "1.18.33" },
  { name: "gemini", title: "Gemini CLI", oldest: "0.61.0", newest: "0.61.0" },
  { name: "codex-acp", title: "codex-acp", oldest: "2.6.0", newest: "2.6.0" },
];

/** Programs that a user without any agent can install and use right away. */
export const INSTALLABLE: readonly string[] = TESTED_AGENTS.flatMap(({ name, isFound }) =>
  isFound ? [name] : [],
);

/** Compares a reported version with the tested range; undefined if within it or unknown. */
export function compareToTested(
  name: string,
  said: string,
): { is: "older" | "newer"; than: string } | undefined {
  const tested = TESTED_AGENTS.find((agent) => agent.name === name);
  const version = /\d+(?:\.\d+)+/.exec(said)?.[0];
  if (tested === undefined || version === undefined) return undefined;
  if (compareVersions(version, tested.oldest) < 0) return { is: "older", than: tested.oldest };
  return compareVersions(version, tested.newest) > 0 ? { is: "newer", than: tested.newest } : undefined;
}

/** Numerically: 2.1.99 is older than 2.1.197. */
export function compareVersions(one: string, other: string): number {
  const [a, b] = [one, other].map((version) => version.split(".").map(Number)) as [number[], number[]];
  for (let at = 0; at < Math.max(a.length, b.length); at += 1) {
    const difference = (a[at] ?? 0) - (b[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
