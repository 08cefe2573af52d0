// Finds instruction files: `AGENTS.md`, or `CLAUDE.md` in a directory without one, from the root of the repository down to
// the workspace, and the user's own in `~/.demian`. Reads at most the start of each.
import { lstat, realpath, stat } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { readErrno, toMessage } from "../../base/coded-error.ts";
import { isBelow } from "../../base/commands/executables.ts";
import { type FileBytes, readBoundedFile } from "../config/bounded-file.ts";
import { listScopes, type Scope, type ScopePlace } from "../config/scope.ts";
import { LinkedSecrets } from "../workspace/linked-secrets.ts";
import { isWriteProtected } from "../workspace/protected.ts";

export interface InstructionFile extends FileBytes {
  kind: "instructions";
  scope: Scope;
  /** Relative to the workspace, or `~/.demian/…`. */
  shown: string;
}

export interface InstructionFiles {
  /** The user's, then the project's from the root of the repository down. */
  files: InstructionFile[];
  /** Why a file is not used, each with its path. */
  faults: string[];
}

/** The first that exists in a directory counts. */
export const INSTRUCTION_NAMES = ["AGENTS.md", "CLAUDE.md"];
export const MAX_FILE_BYTES = 32 * 1024;
const MAX_DIRECTORIES = 64;

export async function findInstructions(place: ScopePlace): Promise<InstructionFiles> {
  const found: InstructionFiles = { files: [], faults: [] };
  const scopes = await listScopes(place);
  const own = scopes.find(({ name }) => name === "user");
  // In the home directory everything is the user's own.
  const project = scopes.find(({ name }) => name === "project") ?? own;
  if (own !== undefined) await addFile(found, { directory: own.root, scope: own, place });
  const directories = await listDirectories(place.cwd);
  const within = directories[0] ?? place.cwd;
  for (const directory of directories)
    if (project !== undefined) await addFile(found, { directory, within, scope: project, place });
  return found;
}

/** For a stamp: every path that would be read, if it existed. */
export async function listInstructionPaths(place: ScopePlace): Promise<string[]> {
  const scopes = await listScopes(place);
  const own = scopes.flatMap(({ name, root }) => (name === "user" ? [root] : []));
  const directories = [...own, ...(await listDirectories(place.cwd))];
  return directories.flatMap((directory) => INSTRUCTION_NAMES.map((name) => join(directory, name)));
}

/** From the root of the repository down to `cwd`; only `cwd` without a repository of this user. */
async function listDirectories(cwd: string): Promise<string[]> {
  const directories: string[] = [];
  for (let directory = cwd; directories.length < MAX_DIRECTORIES; directory = dirname(directory)) {
    directories.unshift(directory);
    if (await isRepository(directory)) return directories;
    if (dirname(directory) === directory) break;
  }
  return [cwd];
}

/** Like git, ignores the repository of another user: `/tmp/.git` would add instructions to everything in `/tmp`. */
async function isRepository(directory: string): Promise<boolean> {
  const git = await lstat(join(directory, ".git")).catch(() => undefined);
  return git !== undefined && (process.getuid === undefined || git.uid === process.getuid());
}

interface Candidate {
  directory: string;
  /** A link must not lead out of this directory. Absent for the user's own, who may keep it elsewhere. */
  within?: string;
  scope: Scope;
  place: ScopePlace;
}

async function addFile(found: InstructionFiles, candidate: Candidate): Promise<void> {
  const { directory, scope, place } = candidate;
  for (const name of INSTRUCTION_NAMES) {
    const path = join(directory, name);
    try {
      const file = await readInstructions(path, candidate);
      if (file === undefined) continue;
      const isKnown = found.files.some(({ identity }) => identity === file.identity);
      const shown = scope.root === directory ? `~/.demian/${name}` : relative(place.cwd, path);
      if (!isKnown) found.files.push({ ...file, kind: "instructions", scope, shown });
    } catch (error) {
      found.faults.push(`${toMessage(error)}; it is not given to the model`);
    }
    return;
  }
}

/** Undefined: no such file. Throws if it may not be used. */
async function readInstructions(path: string, { within, place }: Candidate): Promise<FileBytes | undefined> {
  const real = await realpath(path).catch((error: unknown) => {
    if (readErrno(error) === "ENOENT") return undefined;
    throw new Error(`cannot read ${path}: ${toMessage(error)}`, { cause: error });
  });
  if (real === undefined) return undefined;
  if (within !== undefined && !isBelow(real, within))
    throw new Error(`${path} is a symbolic link that leads out of ${within}`);
  if (within !== undefined && isWriteProtected(relative(within, real)))
    throw new Error(`${path} is a symbolic link to a protected file`);
  const file = await readBoundedFile(real, {
    maxBytes: MAX_FILE_BYTES,
    followsLinks: false,
    isCut: true,
    check: async (descriptor) => {
      if ((await stat(real)).nlink > 1 && (await new LinkedSecrets(place.cwd).has(descriptor)))
        throw new Error(`${path} is a hard link to an environment file`);
    },
  });
  if (file === undefined) return undefined;
  const bytes = checkText(path, file);
  const { omittedBytes } = file;
  if (omittedBytes === undefined) return { ...file, path, bytes };
  return { ...file, path, bytes, omittedBytes: omittedBytes + file.bytes.length - bytes.length };
}

/** Without a character that the limit cut in two. */
function checkText(path: string, { bytes, omittedBytes }: FileBytes): Buffer {
  const text = new TextDecoder("utf-8", { fatal: true });
  try {
    const whole = text.decode(bytes, { stream: omittedBytes !== undefined });
    if (!whole.includes("\0")) return Buffer.from(whole);
  } catch {
    // Reported below.
  }
  throw new Error(`${path} is not text in UTF-8`);
}
