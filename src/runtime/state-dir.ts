// Where demian keeps what the workspace must not hold: grants, trust, preferences. Only the user may look there.
import { createHash, randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { lstat, mkdir, open, realpath, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join } from "node:path";
import { CodedError, errnoOf } from "../base/coded-error.ts";

export type Env = Readonly<Record<string, string | undefined>>;

const MAX_STATE_BYTES = 1_048_576;

/** `$XDG_STATE_HOME/demian`, else `~/.local/state/demian`. A relative variable is ignored, as XDG says. */
export function stateDir(env: Env): string {
  const given = env["XDG_STATE_HOME"] ?? "";
  return join(isAbsolute(given) ? given : join(homeDir(env), ".local", "state"), "demian");
}

/** The directory of one project. `root` is its real path. */
export function projectDir(env: Env, root: string): string {
  return join(stateDir(env), "projects", createHash("sha256").update(root).digest("hex"));
}

export function homeDir(env: Env): string {
  return env["HOME"] || homedir();
}

/** Undefined: there is none. Throws `state_unusable`, and when it is no JSON. */
export async function readStateFile(path: string): Promise<unknown> {
  const text = await readPrivate(path);
  return text === undefined ? undefined : (JSON.parse(text) as unknown);
}

/** Undefined: there is none. Throws `state_unusable` for what is too long, or what somebody else could have written. */
export async function readPrivate(path: string): Promise<string | undefined> {
  let file: Awaited<ReturnType<typeof open>>;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    if (errnoOf(error) === "ELOOP") throw unusable(path, "is a symbolic link; delete it");
    throw error;
  }
  try {
    const stat = await file.stat();
    if (!stat.isFile()) throw unusable(path, "is no regular file; delete it");
    if (process.getuid !== undefined && stat.uid !== process.getuid()) {
      throw unusable(path, "belongs to another user; delete it");
    }
    if ((stat.mode & 0o022) !== 0)
      throw unusable(path, "can be written by others; chmod 600 it if it is yours");
    if (stat.size > MAX_STATE_BYTES) throw unusable(path, "is longer than 1 MiB; delete it");
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}

function unusable(path: string, fault: string): CodedError {
  return new CodedError("state_unusable", `${path} ${fault}`);
}

/** Replaces the file as a whole, 0600, in a directory that only the user can enter. */
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
    `${path} must be a directory of yours that nobody else can write; see to its owner and mode (chmod 700)`,
  );
}

/** The real path, also of what is not there yet: where it would be. */
export async function realPlace(path: string): Promise<string> {
  if (dirname(path) === path) return path;
  return realpath(path).catch(async () => join(await realPlace(dirname(path)), basename(path)));
}
