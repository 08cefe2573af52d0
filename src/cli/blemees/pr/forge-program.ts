// Opens a pull request with the forge's own program, which has the user's login: `gh` for GitHub, `glab` for GitLab.
import { tmpdir } from "node:os";
import { startChild } from "../../../base/child.ts";
import { CodedError } from "../../../base/coded-error.ts";
import { findProgram } from "../../../base/find-program.ts";
import type { Forge } from "../../../git/index.ts";

export interface PullRequestWish {
  forge: Forge;
  branch: string;
  base: string;
  title: string;
  body: string;
  isDraft: boolean;
}

type Env = Readonly<Record<string, string | undefined>>;

const LIMIT_MS = 60_000;

const PROGRAMS = {
  github: {
    name: "gh",
    toArgs: ({ forge, branch, base, title, body, isDraft }: PullRequestWish) => [
      ...["pr", "create", `--repo=${forge.host}/${forge.repository}`, `--head=${branch}`, `--base=${base}`],
      ...[`--title=${title}`, `--body=${body}`, ...(isDraft ? ["--draft"] : [])],
    ],
  },
  gitlab: {
    name: "glab",
    toArgs: ({ forge, branch, base, title, body, isDraft }: PullRequestWish) => [
      ...["mr", "create", "--yes", `--repo=https://${forge.host}/${forge.repository}`],
      ...[`--source-branch=${branch}`, `--target-branch=${base}`],
      ...[`--title=${title}`, `--description=${body}`, ...(isDraft ? ["--draft"] : [])],
    ],
  },
} as const;

/** Its address; undefined if there is no program for this forge. Throws `git_failed` with what the program said. */
export async function openPullRequest(wish: PullRequestWish, env: Env): Promise<string | undefined> {
  const { kind } = wish.forge;
  if (kind !== "github" && kind !== "gitlab") return undefined;
  const { name, toArgs } = PROGRAMS[kind];
  const command = await findProgram(name, env);
  if (command === undefined) return undefined;
  let output = "";
  const errors: string[] = [];
  // Not in the work tree, whose configuration it would read.
  const order = { command, args: toArgs(wish), cwd: tmpdir(), env: { ...env, GH_PROMPT_DISABLED: "1" } };
  const child = await startChild(
    { ...order, input: Buffer.alloc(0) },
    { output: (chunk) => (output += chunk.toString("utf8")), errorLine: (line) => errors.push(line) },
  );
  const timer = setTimeout(() => void child.stop({}), LIMIT_MS).unref();
  const { code } = await child.done;
  clearTimeout(timer);
  const url = /https?:\/\/\S+/.exec(output)?.[0];
  if (code === 0 && url !== undefined) return url;
  throw new CodedError(
    "git_failed",
    `${name} did not open the pull request: ${errors.slice(-3).join("; ").slice(0, 500)}`,
  );
}
