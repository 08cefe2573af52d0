// Files that demian keeps in the workspace, below `.demian`. No link is followed: a repository must not choose where we
// write.
import { closeSync, constants, openSync, writeSync } from "node:fs";
import { basename, dirname } from "node:path";
import { CodedError, readErrno, toMessage } from "../../base/coded-error.ts";
import type { At } from "./at.ts";
import { selectAt } from "./system-at.ts";

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_RDONLY, O_WRONLY } = constants;
const MAX_NAMES = 1000;
const MAX_AGE_MS = 7 * 24 * 60 * 60 * 1000;
/** Limit of the age check: a crowded directory must not delay a call. */
const MAX_LOOKED_AT = 5000;

export interface KeptFile {
  fd: number;
  close(): void;
  /** Relative to the workspace. */
  path: string;
}

/**
 * Creates a file in `directory`, which is `<workspace>/.demian/<name>` and is created with its `.gitignore` if missing.
 * A taken name gets a number. The caller closes it. Throws `cannot_keep`. Deletes files with the same ending that are
 * older than a week.
 */
export function createKeptFile(
  directory: string,
  stem: string,
  ending: string,
  at: At = selectAt(),
): KeptFile {
  const folders = [basename(dirname(directory)), basename(directory)];
  const open: (() => void)[] = [];
  try {
    const root = openSync(dirname(dirname(directory)), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    open.push(() => closeSync(root));
    let last = root;
    for (const folder of folders) {
      const fd = enter(at, last, folder);
      open.push(() => at.close(fd));
      last = fd;
    }
    ignoreInGit(at, last);
    removeOld(at, last, ending);
    const { fd, name } = createNew(at, last, stem, ending);
    return { fd, close: () => at.close(fd), path: [...folders, name].join("/") };
  } catch (cause) {
    throw new CodedError("cannot_keep", `cannot write to ${directory}: ${toMessage(cause)}`, {
      cause,
    });
  } finally {
    for (const close of open) close();
  }
}

function enter(at: At, parent: number, name: string): number {
  try {
    at.makeDirectory(parent, name, 0o755);
  } catch (error) {
    if (readErrno(error) !== "EEXIST") throw error;
  }
  return at.openDirectory(parent, name);
}

function ignoreInGit(at: At, directory: number): void {
  let fd: number;
  try {
    fd = at.openFile(directory, ".gitignore", O_CREAT | O_EXCL | O_WRONLY, 0o644);
  } catch (error) {
    if (readErrno(error) === "EEXIST") return;
    throw error;
  }
  try {
    writeSync(fd, "*\n");
  } finally {
    at.close(fd);
  }
}

function removeOld(at: At, directory: number, ending: string): void {
  const oldest = Date.now() - MAX_AGE_MS;
  const names = at.list(directory).filter((name) => name.endsWith(ending));
  for (const name of names.slice(0, MAX_LOOKED_AT)) {
    try {
      const stats = at.stat(directory, name);
      if (stats.isFile() && stats.mtimeMs < oldest) at.unlink(directory, name);
    } catch {
      // Removed meanwhile, or not ours: the next one is not worse for it.
    }
  }
}

function createNew(at: At, directory: number, stem: string, ending: string): { fd: number; name: string } {
  for (let number = 1; number <= MAX_NAMES; number += 1) {
    const name = `${stem}${number === 1 ? "" : `-${number}`}${ending}`;
    try {
      return { fd: at.openFile(directory, name, O_CREAT | O_EXCL | O_WRONLY, 0o600), name };
    } catch (error) {
      if (readErrno(error) !== "EEXIST") throw error;
    }
  }
  throw new Error(`${stem}${ending} and ${MAX_NAMES - 1} more names like it are taken; empty the directory`);
}
