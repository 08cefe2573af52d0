// The commit that a session's work is compared with: where its branch left the default branch, or, on the default branch
// itself, where the session began. The first moves along when the branch is rebased.
import { defined } from "../base/values.ts";
import { type Repository, readHead } from "./repository.ts";
import type { Git } from "./run.ts";

/** What is known when a session begins. */
export interface RecordedBase {
  /** What was checked out; absent on a branch without commits. */
  commit?: string;
  /** The default branch, if another one was checked out, such as `refs/remotes/origin/main`. */
  ref?: string;
}

export interface FoundBase extends RecordedBase {
  commit: string;
  tree: string;
}

const REMOTE = "refs/remotes/origin/HEAD";
/** In this order, if the remote does not say which it is. */
const DEFAULTS = ["refs/heads/main", "refs/heads/master"];

/** Throws `git_failed`. */
export async function recordBase(git: Git, repository: Repository): Promise<RecordedBase> {
  const [{ branch, commit }, ref] = await Promise.all([
    readHead(git, repository),
    findDefaultBranch(git, repository),
  ]);
  const isDefault = branch !== undefined && ref?.replace(/^refs\/(heads|remotes\/origin)\//, "") === branch;
  return defined({ commit, ref: isDefault ? undefined : ref });
}

/** Undefined: where the session began is still the base, with what was not committed then. Throws `git_failed`. */
export async function findBase(
  git: Git,
  repository: Repository,
  { commit, ref }: RecordedBase,
): Promise<FoundBase | undefined> {
  const other = ref ?? commit;
  if (other === undefined) return undefined;
  const merged = await ask(git, repository, ["merge-base", "--end-of-options", "HEAD", other]);
  // On the default branch, unless its history was rewritten.
  if (merged === undefined || (ref === undefined && merged === commit)) return undefined;
  const tree = await ask(git, repository, ["rev-parse", "--verify", "--quiet", `${merged}^{tree}`]);
  return tree === undefined ? undefined : { commit: merged, tree, ...defined({ ref }) };
}

async function findDefaultBranch(git: Git, repository: Repository): Promise<string | undefined> {
  const args = ["for-each-ref", "--format=%(refname) %(symref)", REMOTE, ...DEFAULTS];
  const found = new Map((await ask(git, repository, args))?.split("\n").map(toPair) ?? []);
  const remote = found.get(REMOTE);
  return remote === undefined || remote === "" ? DEFAULTS.find((name) => found.has(name)) : remote;
}

function toPair(line: string): [string, string] {
  const [name = "", target = ""] = line.split(" ");
  return [name, target];
}

async function ask(
  git: Git,
  { root, gitDir }: Repository,
  args: readonly string[],
): Promise<string | undefined> {
  const { code, stdout } = await git.run({ args, cwd: root, env: { GIT_DIR: gitDir } });
  return code === 0 ? stdout.toString("utf8").trim() : undefined;
}
