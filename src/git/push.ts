// Pushes the branch of a work tree. From an empty git directory that only shares its objects: nothing that the repository
// configures (hooks, credential helpers, ssh commands, proxies) runs, while the user's own configuration is used.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CodedError } from "../base/coded-error.ts";
import { type Repository, readHead } from "./repository.ts";
import type { Git, GitOrder } from "./run.ts";
import { inspectWorktree, runFiltered } from "./worktrees.ts";

export interface PushPlan {
  branch: string;
  commit: string;
  remote: string;
  /** Where it goes, as the repository configures it: to be shown before anything is sent. */
  url: string;
  /** The branch that it is compared with. */
  base: string;
  /** That the base does not have, newest first, at most `MAX_COMMITS`. */
  commits: { id: string; subject: string }[];
  /** Files that are changed or not tracked, and so not part of it. */
  changed: number;
}

const MAX_COMMITS = 50;
const PUSH_MS = 300_000;
const MAIN_BRANCHES = ["main", "master"];
/** A path or one of the usual protocols; not `helper::address`, which starts a program. */
const URL_SHAPE = /^(?:(?:https?|ssh|git|file):\/\/\S+|\/\S.*|(?:[^@/\s:]+@)?[^@/\s:]+:(?!:)\S+)$/;

/** Throws `worktree_refused` if there is nothing to push or no place to push to. */
export async function planPush(
  git: Git,
  repository: Repository,
  wish: { remote?: string | undefined; base?: string | undefined },
): Promise<PushPlan> {
  const { branch, commit } = await readHead(git, repository);
  if (branch === undefined) throw refuse("HEAD is detached; create a branch first: git switch -c NAME");
  if (commit === undefined) throw refuse(`the branch ${branch} has no commit yet`);
  const ask = createAsker(git, repository);
  const remote = wish.remote ?? (await chooseRemote(ask));
  const url =
    (await ask("config", "--get", `remote.${remote}.pushurl`)) ??
    (await ask("config", "--get", `remote.${remote}.url`));
  if (url === undefined)
    throw refuse(`there is no remote "${remote}"; add one with: git remote add ${remote} URL`);
  if (!URL_SHAPE.test(url) || url.startsWith("-"))
    throw refuse(`the remote ${remote} has an unusual URL: ${url}`);
  const base = wish.base ?? (await chooseBase(ask, remote));
  if (base === branch) {
    throw refuse(
      `the session works on ${base} itself; create a branch first (git switch -c NAME), or spawn with --worktree`,
    );
  }
  const known =
    (await ask("rev-parse", "--verify", "--quiet", `refs/remotes/${remote}/${base}`)) ??
    (await ask("rev-parse", "--verify", "--quiet", `refs/heads/${base}`));
  const range = known === undefined ? [commit] : [commit, `^${known}`];
  const log =
    (await ask(
      "log",
      "--no-show-signature",
      `--max-count=${MAX_COMMITS}`,
      "--format=%h%x00%s",
      ...range,
      "--",
    )) ?? "";
  const commits = log
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => ({ id: line.split("\0")[0] ?? "", subject: line.split("\0")[1] ?? "" }));
  const { changed } = await inspectWorktree(git, repository);
  return { branch, commit, remote, url, base, commits, changed };
}

/** Throws `git_failed` with what the remote said. */
export async function push(git: Git, repository: Repository, plan: PushPlan): Promise<void> {
  const { url, commit, branch, remote } = plan;
  const directory = await mkdtemp(join(tmpdir(), "blemees-push-"));
  try {
    const place = { cwd: directory, env: { GIT_DIR: directory } };
    await git.expect({ ...place, args: ["init", "--quiet", "--bare", "--template=", directory] });
    await writeFile(join(directory, "objects/info/alternates"), `${repository.objectsDir}\n`);
    const args = ["push", "--quiet", "--no-verify", "--", url, `${commit}:refs/heads/${branch}`];
    await git.expect({ ...place, args, usesUserConfig: true, timeoutMs: PUSH_MS });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
  // As a push from the repository would have done.
  const tracking = `refs/remotes/${remote}/${branch}`;
  await git.run({ cwd: repository.root, env: toEnv(repository), args: ["update-ref", tracking, commit] });
}

/** Commits everything that is not ignored, as the user. Throws `git_failed`. */
export async function commitAll(git: Git, repository: Repository, message: string): Promise<void> {
  await runFiltered(git, repository, { args: ["add", "--all"] });
  await runFiltered(git, repository, { args: ["commit", "--quiet", "--no-verify", `--message=${message}`] });
}

type Ask = (...args: string[]) => Promise<string | undefined>;

function createAsker(git: Git, repository: Repository): Ask {
  const place: Pick<GitOrder, "cwd" | "env"> = { cwd: repository.root, env: toEnv(repository) };
  return async (...args) => {
    const { code, stdout } = await git.run({ ...place, args });
    const text = stdout.toString("utf8").trim();
    return code === 0 && text !== "" ? text : undefined;
  };
}

async function chooseRemote(ask: Ask): Promise<string> {
  const names = (await ask("remote"))?.split("\n") ?? [];
  const [only, ...others] = names;
  if (only === undefined)
    throw refuse("the repository has no remote; add one with: git remote add origin URL");
  if (names.includes("origin")) return "origin";
  if (others.length === 0) return only;
  throw refuse(`the repository has the remotes ${names.join(", ")}; choose one with --remote`);
}

async function chooseBase(ask: Ask, remote: string): Promise<string> {
  const head = await ask("symbolic-ref", "--quiet", `refs/remotes/${remote}/HEAD`);
  if (head !== undefined) return head.slice(`refs/remotes/${remote}/`.length);
  for (const name of MAIN_BRANCHES) {
    for (const ref of [`refs/remotes/${remote}/${name}`, `refs/heads/${name}`]) {
      if ((await ask("rev-parse", "--verify", "--quiet", ref)) !== undefined) return name;
    }
  }
  throw refuse("the main branch is not known; name it with --base");
}

function toEnv({ gitDir, root }: Repository): Record<string, string> {
  return { GIT_DIR: gitDir, GIT_WORK_TREE: root };
}

function refuse(why: string): CodedError {
  return new CodedError("worktree_refused", why);
}
