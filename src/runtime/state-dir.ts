// Where demian keeps what the workspace must not hold: grants, trust, preferences. Only the user may look there.
import { createHash, randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { lstat, mkdir, open, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
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

/** Undefined: there is none. Throws when it is no file of ours, too long, or no JSON. */
export async function readStateFile(path: string): Promise<unknown> {
  let file: Awaited<ReturnType<typeof open>>;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
  try {
    const stat = await file.stat();
    if (!stat.isFile()) throw new CodedError("state_unusable", `${path} is no regular file`);
    if (stat.size > MAX_STATE_BYTES) throw new CodedError("state_unusable", `${path} is longer than 1 MiB`);
    return JSON.parse(await file.readFile("utf8")) as unknown;
  } finally {
    await file.close();
  }
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
