// The directory of data that must not be in the workspace: grants, trust, preferences. Private to the user.
import { createHash } from "node:crypto";
import { realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join } from "node:path";
import { readPrivate, writePrivate } from "../base/private-file.ts";

export type Env = Readonly<Record<string, string | undefined>>;

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

/** Replaces the whole file, mode 0600, in a directory private to the user. */
export async function writeStateFile(path: string, value: unknown): Promise<void> {
  await writePrivate(path, `${JSON.stringify(value, null, 2)}\n`);
}

/** The real path, even if it does not exist yet. */
export async function resolveRealPath(path: string): Promise<string> {
  if (dirname(path) === path) return path;
  return realpath(path).catch(async () => join(await resolveRealPath(dirname(path)), basename(path)));
}
