// The files of a directory of a work tree that git does not ignore: tracked ones, and new ones. Starts nothing that the
// repository configures.
import { defined } from "../base/values.ts";
import { splitLongFields, toShownPath } from "./paths.ts";
import { findRepository } from "./repository.ts";
import { type Git, gitError } from "./run.ts";
import { readGitSettings } from "./settings.ts";

export interface ListFilesOrder {
  env: Readonly<Record<string, string | undefined>>;
  /** The output is cut there. */
  maxBytes: number;
  timeoutMs: number;
}

export interface ListedFiles {
  /** Relative to the directory. Some may be deleted, and one may be a directory: a nested repository. */
  paths: string[];
  isCut: boolean;
}

/** Undefined if the directory is in no repository. Names that are not UTF-8 are left out. Throws `git_failed`. */
export async function listWorkTreeFiles(
  git: Git,
  cwd: string,
  { env, maxBytes, timeoutMs }: ListFilesOrder,
): Promise<ListedFiles | undefined> {
  const repository = await findRepository(cwd);
  if (repository.root === undefined) return undefined;
  const { excludesFile } = await readGitSettings(git, repository, env);
  const args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const {
    code,
    stdout,
    stderr,
    isCut = false,
  } = await git.run({
    args,
    cwd,
    env: { GIT_DIR: repository.gitDir, GIT_WORK_TREE: repository.root },
    ...defined({
      config: excludesFile === undefined ? undefined : [`core.excludesFile=${excludesFile}`],
    }),
    timeoutMs,
    maxBytes,
    isCutAtLimit: true,
  });
  if (code !== 0 && !isCut) throw gitError({ args }, stderr === "" ? "failed" : stderr);
  const shown = (await splitLongFields(stdout)).map(toShownPath);
  const paths = shown.flatMap(({ path, path_b64 }) => (path_b64 === undefined ? [path] : []));
  return { paths: [...new Set(paths)], isCut };
}
