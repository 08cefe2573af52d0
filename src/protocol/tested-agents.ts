// The versions of each agent that the end-to-end tests run on: what `sm doctor` compares with and the documents name. A
// test holds this table against scripts/e2e-agents.mjs, which installs them.

export interface TestedAgent {
  /** As its program is called. */
  name: string;
  title: string;
  oldest: string;
  newest: string;
  /** The daemon finds it on the PATH, without a line of configuration. */
  isFound?: true;
}

export const TESTED_AGENTS: readonly TestedAgent[] = [
  { name: "claude", title: "Claude Code", oldest: "2.1.197", newest: "2.1.326", isFound: true },
  { name: "codex", title: "Codex", oldest: "0.166.0", newest: "0.169.0", isFound: true },
  { name: "opencode", title: "opencode", oldest: "1.18.33", newest: "1.18.33" },
  { name: "gemini", title: "Gemini CLI", oldest: "0.61.0", newest: "0.61.0" },
  { name: "codex-acp", title: "codex-acp", oldest: "2.6.0", newest: "2.6.0" },
];

/** The programs that somebody who has no agent yet can install and use at once. */
export const INSTALLABLE: readonly string[] = TESTED_AGENTS.flatMap(({ name, isFound }) =>
  isFound ? [name] : [],
);

/** How what a program says of its version stands to what was tested; undefined: within it, or nobody knows. */
export function comparedToTested(
  name: string,
  said: string,
): { is: "older" | "newer"; than: string } | undefined {
  const tested = TESTED_AGENTS.find((agent) => agent.name === name);
  const version = /\d+(?:\.\d+)+/.exec(said)?.[0];
  if (tested === undefined || version === undefined) return undefined;
  if (compareVersions(version, tested.oldest) < 0) return { is: "older", than: tested.oldest };
  return compareVersions(version, tested.newest) > 0 ? { is: "newer", than: tested.newest } : undefined;
}

/** By their numbers: 2.1.99 is older than 2.1.197. */
export function compareVersions(one: string, other: string): number {
  const [a, b] = [one, other].map((version) => version.split(".").map(Number)) as [number[], number[]];
  for (let at = 0; at < Math.max(a.length, b.length); at += 1) {
    const difference = (a[at] ?? 0) - (b[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
