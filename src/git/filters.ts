// Turns off the filters that a repository configures: anyone who could write its configuration chose those programs, and
// commands that write or compare files (checkout, status) would run them. Filters of the user's own configuration, such as Git
// LFS, may run.
import { CodedError } from "../base/coded-error.ts";
import type { Git } from "./run.ts";

/** Settings that turn off the filters which the repository itself configures. `env`: as for the command to protect. */
export async function listFilterOverrides(
  git: Git,
  order: { cwd: string; env: Readonly<Record<string, string>> },
): Promise<string[]> {
  const { code, stdout } = await git.run({
    ...order,
    args: ["config", "--show-scope", "--name-only", "-z", "--get-regexp", "^filter\\."],
    usesUserConfig: true,
  });
  if (code !== 0) return []; // none
  const fields = stdout.toString("utf8").split("\0");
  const names = new Set<string>();
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [scope, key = ""] = [fields[at], fields[at + 1]];
    const name = key.slice("filter.".length, key.lastIndexOf("."));
    // `command` are settings of ours.
    if (scope === "local" || scope === "worktree") names.add(name);
  }
  return [...names].flatMap((name) => {
    if (name.includes("=") || name.includes("\n"))
      throw new CodedError(
        "git_failed",
        `the repository configures a filter with an unusual name: "${name}"`,
      );
    const key = `filter.${name}`;
    return [`${key}.clean=`, `${key}.smudge=`, `${key}.process=`, `${key}.required=false`];
  });
}
