// Chooses a few of many seeded bugs by the commit, so that the gate stays quick and each bug gets its turn.
import { execFileSync } from "node:child_process";
import { IS_CHAOS } from "./sizes.ts";

/** All of them in chaos. */
export function pickByCommit<T>(list: readonly T[], count: number): readonly T[] {
  if (IS_CHAOS) return list;
  const first = Number.parseInt(readCommit().slice(0, 6), 16) || 0;
  return Array.from({ length: count }, (_, at) => list[(first + at * 7) % list.length] as T);
}

/** Empty outside a git checkout. */
function readCommit(): string {
  try {
    return execFileSync("git", ["rev-parse", "HEAD"], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
  } catch {
    return "";
  }
}
