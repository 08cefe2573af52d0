// The project of a directory: what sessions are grouped by.
import { basename, dirname } from "node:path";
import { findRepository } from "../git/index.ts";

/** The root of its repository, the main one if it is a worktree; outside of repositories the directory itself. */
export async function detectProject(cwd: string): Promise<string> {
  const found = await findRepository(cwd);
  if (found.root === undefined) return cwd;
  const { isLinked, commonDir, root } = found;
  return isLinked && basename(commonDir) === ".git" ? dirname(commonDir) : root;
}
