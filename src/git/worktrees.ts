// Linked worktrees: adds one with a branch of its own, looks at it, and removes it if nothing would be lost. No hook runs, and
// no filter that the repository configures.
import { rm } from "node:fs/promises";
import { CodedError } from "../base/coded-error.ts";
import { defined } from "../base/values.ts";
import { listFilterOverrides } from "./filters.ts";
import { splitFields } from "./paths.ts";
import { findRepository, type Repository } from "./repository.ts";
import type { Git, GitOrder } from "./run.ts";

export interface WorktreeOrder {
  /** Absolute; does not exist yet. */
  path: string;
  branch: string;
  /** Anything that names a commit; HEAD by default. */
  base?: string | undefined;
}

export interface WorktreeState {
  commit: string;
  /** Absent if HEAD is detached. */
  branch?: string;
  /** Files that are changed or not tracked; ignored ones do not count. */
  changed: number;
  /** Commits that no other branch, tag or remote branch has. */
  unmerged: number;
}

/** A large repository has many files to write. */
const CHECKOUT_MS = 120_000;

/** Throws `worktree_refused`, `git_failed`. Leaves nothing if it fails. */
export async function addWorktree(
  git: Git,
  repository: Repository,
  { path, branch, base = "HEAD" }: WorktreeOrder,
): Promise<Repository> {
  const main = { cwd: repository.root, env: { GIT_DIR: repository.gitDir } };
  const commit = await readCommit(git, main, base);
  const adding = ["worktree", "add", "--no-checkout", "--no-track", "-b", branch, "--", path, commit];
  const { code, stderr } = await git.run({ ...main, args: adding });
  if (code !== 0) throw new CodedError("worktree_refused", `git cannot add the worktree: ${stderr}`);
  try {
    const added = await requireRepository(path);
    await runFiltered(git, added, { args: ["reset", "--quiet", "--hard", commit], timeoutMs: CHECKOUT_MS });
    return added;
  } catch (error) {
    await discardWorktree(git, repository, { path, branch });
    throw error;
  }
}

/** Of a worktree whose session did not start: it has nothing of anybody's yet. */
export async function discardWorktree(
  git: Git,
  repository: Repository,
  { path, branch }: Pick<WorktreeOrder, "path" | "branch">,
): Promise<void> {
  const main = { cwd: repository.root, env: { GIT_DIR: repository.gitDir } };
  await git.run({ ...main, args: ["worktree", "remove", "--force", "--", path] });
  await rm(path, { recursive: true, force: true });
  await git.run({ ...main, args: ["worktree", "prune"] });
  await git.run({ ...main, args: ["branch", "--quiet", "-D", "--", branch] });
}

export async function inspectWorktree(git: Git, worktree: Repository): Promise<WorktreeState> {
  const place = { cwd: worktree.root, env: { GIT_DIR: worktree.gitDir, GIT_WORK_TREE: worktree.root } };
  const commit = await readCommit(git, place, "HEAD");
  const head = await git.run({ ...place, args: ["symbolic-ref", "--quiet", "HEAD"] });
  const ref = head.code === 0 ? head.stdout.toString("utf8").trim() : undefined;
  const status = await runFiltered(git, worktree, {
    args: ["status", "--porcelain=v1", "-z", "--untracked-files=normal", "--ignore-submodules=none"],
  });
  const branch = ref?.replace(/^refs\/heads\//, "");
  const own = branch === undefined ? [] : [`--exclude=${branch}`];
  // Not `--all`: HEAD of this worktree is among it.
  const kinds = [...own, "--branches", "--tags", "--remotes"];
  const count = await git.expect({ ...place, args: ["rev-list", "--count", commit, "--not", ...kinds] });
  return {
    commit,
    ...defined({ branch }),
    changed: splitFields(status).length,
    unmerged: Number(count.toString("utf8")),
  };
}

/** The branch goes too, if every commit of it is on another one. Throws `worktree_refused` if something would be lost. */
export async function removeWorktree(git: Git, worktree: Repository): Promise<void> {
  const { branch, changed, unmerged, commit } = await inspectWorktree(git, worktree);
  const faults = [
    ...(changed === 0 ? [] : [`${changed} changed or untracked ${changed === 1 ? "file" : "files"}`]),
    ...(unmerged === 0
      ? []
      : [`${unmerged} ${unmerged === 1 ? "commit" : "commits"} neither merged nor pushed`]),
  ];
  if (faults.length > 0) {
    throw new CodedError(
      "worktree_refused",
      `${worktree.root} has ${faults.join(" and ")}; commit, merge or push them, or run: git worktree remove --force ${worktree.root}`,
      { data: { changed, unmerged } },
    );
  }
  const main = { cwd: worktree.commonDir, env: { GIT_DIR: worktree.commonDir } };
  // It compares the files once more.
  const inside = { cwd: worktree.root, env: { GIT_DIR: worktree.gitDir, GIT_WORK_TREE: worktree.root } };
  const config = await listFilterOverrides(git, inside);
  const removing = ["worktree", "remove", "--", worktree.root];
  const { code, stderr } = await git.run({ ...main, args: removing, config, usesUserConfig: true });
  if (code !== 0) throw new CodedError("worktree_refused", `git cannot remove the worktree: ${stderr}`);
  // Only if nobody has committed to it meanwhile.
  if (branch !== undefined)
    await git.run({ ...main, args: ["update-ref", "-d", `refs/heads/${branch}`, commit] });
}

/** Runs git in a work tree without the filters that the repository configures. */
export async function runFiltered(
  git: Git,
  { root, gitDir }: Repository,
  order: Pick<GitOrder, "args" | "timeoutMs">,
): Promise<Buffer> {
  const place = { cwd: root, env: { GIT_DIR: gitDir, GIT_WORK_TREE: root } };
  const config = await listFilterOverrides(git, place);
  return git.expect({ ...place, ...order, config, usesUserConfig: true });
}

export async function requireRepository(path: string): Promise<Repository> {
  const found = await findRepository(path);
  if (found.root === undefined) throw new CodedError("worktree_refused", found.reason);
  return found;
}

async function readCommit(git: Git, place: Pick<GitOrder, "cwd" | "env">, name: string): Promise<string> {
  const args = ["rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`];
  const { code, stdout } = await git.run({ ...place, args });
  if (code === 0) return stdout.toString("utf8").trim();
  const why =
    name === "HEAD" ? "the repository has no commit yet" : `"${name}" is not a commit, branch or tag`;
  throw new CodedError("worktree_refused", `${why}; a worktree needs a commit to start from`);
}
