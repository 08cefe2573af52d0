// Finds the repository of a directory by looking at files, as git does, but without git: nothing that the repository
// configures can run, and no other program decides which directory is meant.
import { lstat, readFile, realpath, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { Git } from "./run.ts";

export interface Repository {
  /** The top of the work tree, as a real path. */
  root: string;
  /** `.git`, or the directory that the file `.git` names. */
  gitDir: string;
  /** The same, except in a linked worktree: there, of the main repository. */
  commonDir: string;
  objectsDir: string;
  /** A worktree added to another repository. */
  isLinked: boolean;
}

export type FoundRepository = Repository | { root?: undefined; reason: string };

/** Never rejects. */
export async function findRepository(cwd: string): Promise<FoundRepository> {
  let dir = await realpath(cwd).catch(() => undefined);
  if (dir === undefined) return { reason: `the directory ${cwd} does not exist` };
  const start = dir;
  for (;;) {
    const found = await readGitDir(dir);
    if (found !== undefined) {
      if (isInside(start, found.gitDir)) return { reason: `${cwd} is inside the directory ${found.gitDir}` };
      return { root: dir, ...found };
    }
    if (dir === dirname(dir)) return { reason: `${cwd} is not in a git repository` };
    dir = dirname(dir);
  }
}

async function readGitDir(root: string): Promise<Omit<Repository, "root"> | undefined> {
  const entry = join(root, ".git");
  const info = await stat(entry).catch(() => undefined);
  if (info === undefined) return undefined;
  const named = info.isDirectory() ? entry : await readPointer(entry, root);
  const gitDir = named && (await realpath(named).catch(() => undefined));
  if (gitDir === undefined || !(await exists(join(gitDir, "HEAD")))) return undefined;
  const common = await readLine(join(gitDir, "commondir"));
  const commonDir =
    common === undefined ? gitDir : await realpath(resolve(gitDir, common)).catch(() => undefined);
  if (commonDir === undefined) return undefined;
  const objectsDir = join(commonDir, "objects");
  const isWhole = (await isDirectory(objectsDir)) && (await exists(join(commonDir, "refs")));
  return isWhole ? { gitDir, commonDir, objectsDir, isLinked: common !== undefined } : undefined;
}

/** `gitdir: PATH`, as in worktrees and submodules. */
async function readPointer(file: string, root: string): Promise<string | undefined> {
  const line = await readLine(file);
  return line?.startsWith("gitdir: ") === true ? resolve(root, line.slice("gitdir: ".length)) : undefined;
}

const MAX_LINE_BYTES = 8192;

async function readLine(file: string): Promise<string | undefined> {
  const info = await lstat(file).catch(() => undefined);
  // A FIFO would block.
  if (info?.isFile() !== true || info.size > MAX_LINE_BYTES) return undefined;
  return (await readFile(file, "utf8").catch(() => undefined))?.trim();
}

export interface Head {
  /** Absent if HEAD is detached. */
  branch?: string;
  /** Absent if the branch has no commit yet. */
  commit?: string;
}

/** The commit and branch that are checked out. Throws `git_failed`. */
export async function readHead(git: Git, { root, gitDir }: Repository): Promise<Head> {
  const env = { GIT_DIR: gitDir, GIT_WORK_TREE: root };
  const ask = async (args: string[]): Promise<string | undefined> => {
    const { code, stdout } = await git.run({ args, cwd: root, env });
    return code === 0 ? stdout.toString("utf8").trim() : undefined;
  };
  const [ref, commit] = await Promise.all([
    ask(["symbolic-ref", "--quiet", "HEAD"]),
    ask(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]),
  ]);
  const branch = ref?.replace(/^refs\/heads\//, "");
  return { ...(branch === undefined ? {} : { branch }), ...(commit === undefined ? {} : { commit }) };
}

function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

async function isDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    (info) => info.isDirectory(),
    () => false,
  );
}
