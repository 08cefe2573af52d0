// The directory of data that must not be in the workspace: grants, trust, preferences. Private to the user.
import { createHash, randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { lstat, mkdir, open, realpath, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join } from "node:path";
import { CodedError, readErrno } from "../base/coded-error.ts";

export type Env = Readonly<Record<string, string | undefined>>;

const MAX_STATE_BYTES = 1_048_576;

/** `$XDG_STATE_HOME/demian`, else `~/.local/state/demian`. A relative value is ignored, as XDG requires. */
export function getStateDir(env: Env): string {
  const given = env["XDG_STATE_HOME"] ?? "";
  return join(isAbsolute(given) ? given : join(getHomeDir(env), ".local", "state"), "demian");
}

/** The state directory of one project. `root` is its real path. */
export function getProjectDir(env: Env, root: string): string {
  return join(getStateDir(env), "projects", createHash("sha256").update(root).digest("hex"));
}

export function getHomeDir(env: Env): string {
  return env["HOME"] || homedir();
}

/** Undefined: no such file. Throws `state_unusable`, and if it is not JSON. */
export async function readStateFile(path: string): Promise<unknown> {
  const text = await readPrivate(path);
  return text === undefined ? undefined : (JSON.parse(text) as unknown);
}

/** Undefined: no such file. Throws `state_unusable` if it is too long or others could have written it. */
export async function readPrivate(path: string): Promise<string | undefined> {
  let file: Awaited<ReturnType<typeof open>>;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (readErrno(error) === "ENOENT") return undefined;
    if (readErrno(error) === "ELOOP") throw unusableError(path, "is a symbolic link; delete it");
    throw error;
  }
  try {
    const stat = await file.stat();
    if (!stat.isFile()) throw unusableError(path, "is not a regular file; delete it");
    if (process.getuid !== undefined && stat.uid !== process.getuid()) {
      throw unusableError(path, "belongs to another user; delete it");
    }
    if ((stat.mode & 0o022) !== 0)
      throw unusableError(path, "can be written by others; run chmod 600 on it if it is yours");
    if (stat.size > MAX_STATE_BYTES) throw unusableError(path, "is larger than 1 MiB; delete it");
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}

function unusableError(path: string, fault: string): CodedError {
  return new CodedError("state_unusable", `${path} ${fault}`);
}

/** Replaces the whole file, mode 0600, in a directory private to the user. */
export async function writeStateFile(path: string, value: unknown): Promise<void> {
  await ensurePrivateDir(dirname(path));
  const draft = `${path}.${randomUUID()}.tmp`;
  try {
    const file = await open(draft, "wx", 0o600);
    try {
      await file.writeFile(`${JSON.stringify(value, null, 2)}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

export async function ensurePrivateDir(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  const stat = await lstat(path);
  const isOurs = process.getuid === undefined || stat.uid === process.getuid();
  if (stat.isDirectory() && isOurs && (stat.mode & 0o022) === 0) return;
  throw new CodedError(
    "state_unusable",
    `${path} must be a directory that you own and only you can write; check its owner and mode (chmod 700)`,
  );
}

/** The real path, even if it does not exist yet. */
export async function resolveRealPath(path: string): Promise<string> {
  if (dirname(path) === path) return path;
  return realpath(path).catch(async () => join(await resolveRealPath(dirname(path)), basename(path)));
}
