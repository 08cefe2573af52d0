// Finds the repository around a workspace in the home directory: a package needs the files of its monorepo, and git those
// of the main worktree. Both stay readable.
import { readdir, readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { isSecretPath } from "../workspace/protected.ts";
import { isWithin, resolvePath } from "./protected-paths.ts";

export interface Repository {
  directories: string[];
  /** Environment files in the directories above the workspace. */
  masked: string[];
}

export async function findRepository(home: string, root: string): Promise<Repository> {
  const above: string[] = [];
  for (
    let directory = root;
    directory !== home && isWithin(home, directory);
    directory = dirname(directory)
  ) {
    if (directory !== root) above.push(directory);
    const git = await resolvePath(join(directory, ".git"));
    if (git === undefined) continue;
    const common = git.kind === "file" ? await findCommonDirectory(directory) : undefined;
    const masked = await Promise.all(above.map(listSecrets));
    return {
      directories: [...above.slice(-1), ...(common === undefined || !isWithin(home, common) ? [] : [common])],
      masked: masked.flat(),
    };
  }
  return { directories: [], masked: [] };
}

/**
 * The git directory that a linked worktree shares with its repository. The file `.git` may come from anyone, so the
 * repository must also name this worktree.
 */
async function findCommonDirectory(worktree: string): Promise<string | undefined> {
  const own = await readLine(join(worktree, ".git"));
  const directory = own?.startsWith("gitdir: ") ? resolve(worktree, own.slice("gitdir: ".length)) : undefined;
  if (directory === undefined) return undefined;
  const [back, common, head] = await Promise.all(
    ["gitdir", "commondir", "HEAD"].map((name) => readLine(join(directory, name))),
  );
  if (back === undefined || common === undefined || head === undefined) return undefined;
  const named = await resolvePath(resolve(directory, back));
  const actual = await resolvePath(join(worktree, ".git"));
  const found = await resolvePath(resolve(directory, common));
  if (named?.path !== actual?.path || found?.kind !== "directory") return undefined;
  return (await resolvePath(join(found.path, "objects")))?.kind === "directory" ? found.path : undefined;
}

async function readLine(path: string): Promise<string | undefined> {
  const text = await readFile(path, "utf8").catch(() => undefined);
  return text?.split("\n")[0];
}

async function listSecrets(directory: string): Promise<string[]> {
  const names = await readdir(directory).catch(() => []);
  const found = await Promise.all(
    names.filter(isSecretPath).map((name) => resolvePath(join(directory, name))),
  );
  return found.flatMap((one) => (one?.kind === "file" ? [one.path] : []));
}
