// Finds git. Checkpoints, worktrees and pull requests need it; everything else works without.
import { dirname } from "node:path";
import { CodedError, toMessage } from "../base/coded-error.ts";
import { findProgram } from "../base/find-program.ts";
import { Git } from "./run.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** Has `--pathspec-from-file`, `config --show-scope` and safe handling of what a repository configures. */
const MIN_VERSION = [2, 30] as const;
export const MIN_GIT_VERSION = MIN_VERSION.join(".");

/** `reason`: why there is no usable git, as a sentence without a full stop. */
export type FoundGit = { git: Git; version: string } | { git?: undefined; reason: string };

/** `env`: the environment of the daemon; only its PATH and places of the user's configuration are used. Never rejects. */
export async function findGit(env: Env): Promise<FoundGit> {
  const program = await findProgram("git", { PATH: keepAbsolute(env["PATH"] ?? "") });
  if (program === undefined)
    return { reason: `git not found on PATH; install git ${MIN_GIT_VERSION} or newer` };
  const git = new Git(program, env);
  try {
    const text = (await git.expect({ args: ["--version"], cwd: dirname(program) })).toString("utf8");
    const version = /\d+(?:\.\d+)+/.exec(text)?.[0];
    if (version === undefined) return { reason: `${program} did not report a version` };
    if (!isNewEnough(version)) {
      return { reason: `git ${version} is too old; install git ${MIN_GIT_VERSION} or newer` };
    }
    return { git, version };
  } catch (error) {
    const why = error instanceof CodedError ? error.message : toMessage(error);
    return { reason: `${program} does not work: ${why}` };
  }
}

/** git may be installed while the daemon runs. */
const LOOK_AGAIN_MS = 60_000;

/** Looks once, when git is first needed, and again some time after it was not found. */
export function keepFoundGit(env: Env): () => Promise<FoundGit> {
  let kept: Promise<FoundGit> | undefined;
  return async () => {
    kept ??= findGit(env);
    const looked = kept;
    const found = await looked;
    if (found.git === undefined && kept === looked) {
      setTimeout(() => {
        if (kept === looked) kept = undefined;
      }, LOOK_AGAIN_MS).unref();
    }
    return found;
  };
}

export function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > MIN_VERSION[0] || (major === MIN_VERSION[0] && minor >= MIN_VERSION[1]);
}

/** A relative entry would find a program in the directory of a session. */
function keepAbsolute(path: string): string {
  return path
    .split(":")
    .filter((folder) => folder.startsWith("/"))
    .join(":");
}
