// Control groups that limit the number of processes of a command (pids controller, version 1 or 2). For root, whom process
// limits do not bind. One group per command, removed after it; those of a dead process are removed at the next start.
import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { waitAtMost } from "../../base/child.ts";
import { isRunning } from "../../base/proc.ts";
import { isWithin } from "./protected-paths.ts";

const PREFIX = "demian-";
const PROBE_LIMIT_MS = 5000;
/** The last process of a group may take a moment to disappear. */
const REMOVAL_ATTEMPTS = 100;
const REMOVAL_PAUSE_MS = 20;
/**
 * Shell commands that join the group in "$0". Version 1 moves a single thread, which is all that a shell has, in 0.1 ms;
 * to move a whole process takes 10 ms, because the kernel waits for all processors.
 */
export const JOIN_GROUP =
  'join="$0/tasks"; [ -e "$join" ] || join="$0/cgroup.procs"; echo 0 > "$join" || exit 1; unset join';

let serial = 0;

/** A directory where groups can be created and joined; undefined if there is none. */
export async function findProcessGroups(root = "/"): Promise<string | undefined> {
  for (const parent of await listCandidates(root)) {
    await removeLeftovers(parent);
    if (await tryParent(parent)) return parent;
  }
  return undefined;
}

/** Throws if it cannot be created. */
export async function createProcessGroup(parent: string, most: number): Promise<string> {
  serial += 1;
  const group = join(parent, `${PREFIX}${process.pid}-${serial}`);
  await mkdir(group);
  try {
    await writeFile(join(group, "pids.max"), String(most));
    return group;
  } catch (error) {
    await rmdir(group).catch(() => undefined);
    throw error;
  }
}

export async function removeProcessGroup(group: string): Promise<void> {
  for (let attempt = 0; attempt < REMOVAL_ATTEMPTS; attempt += 1) {
    try {
      return await rmdir(group);
    } catch {
      await waitAtMost(REMOVAL_PAUSE_MS, new Promise(() => undefined));
    }
  }
  // Left for the next start.
}

/** Our own group, or its parent: in version 2 a group with processes often cannot have limited children. */
export async function listCandidates(root: string): Promise<string[]> {
  const [own, mounts] = await Promise.all(
    ["proc/self/cgroup", "proc/self/mountinfo"].map((path) =>
      readFile(join(root, path), "utf8").catch(() => ""),
    ),
  );
  const lines = (own ?? "").split("\n").map((line) => line.split(":"));
  const first = lines.find(([, controllers = ""]) => controllers.split(",").includes("pids"))?.[2];
  if (first !== undefined) return placeAt(root, findMount(mounts ?? "", "cgroup", "pids"), first).slice(0, 1);
  const second = lines.find(([number]) => number === "0")?.[2];
  if (second === undefined) return [];
  const [group, ...above] = placeAt(root, findMount(mounts ?? "", "cgroup2"), second);
  return group === undefined ? [] : [...above, group];
}

interface MountPoint {
  /** The group that is visible at `path`. */
  top: string;
  path: string;
}

/** Lines are "id parent device root path options… - type source options". */
function findMount(text: string, type: string, option?: string): MountPoint | undefined {
  for (const line of text.split("\n")) {
    const [left = "", right = ""] = line.split(" - ");
    const [, , , top, path] = left.split(" ");
    const [kind, , options = ""] = right.split(" ");
    const fits = kind === type && (option === undefined || options.split(",").includes(option));
    if (fits && top !== undefined && path !== undefined) return { top, path };
  }
  return undefined;
}

/** The directory of a group, and that of its parent if it is visible. */
function placeAt(root: string, mount: MountPoint | undefined, group: string): string[] {
  if (mount === undefined || !isWithin(mount.top, group)) return [];
  const top = join(root, mount.path);
  const own = join(top, group.slice(mount.top === "/" ? 0 : mount.top.length));
  return own === top || own === `${top}/` ? [top] : [own, dirname(own)];
}

async function tryParent(parent: string): Promise<boolean> {
  let group: string | undefined;
  try {
    // Version 2: children have only the controllers that are switched on here.
    await writeFile(join(parent, "cgroup.subtree_control"), "+pids").catch(() => undefined);
    group = await createProcessGroup(parent, 10);
    const joined = await promisify(execFile)(
      "/bin/sh",
      ["-c", `${JOIN_GROUP}; cat /proc/self/cgroup`, group],
      { timeout: PROBE_LIMIT_MS },
    );
    return joined.stdout.includes(`/${PREFIX}${process.pid}-`);
  } catch {
    return false; // Not ours to change, or without the controller.
  } finally {
    if (group !== undefined) await removeProcessGroup(group);
  }
}

async function removeLeftovers(parent: string): Promise<void> {
  const names = (await readdir(parent).catch(() => [])).filter((name) => name.startsWith(PREFIX));
  for (const name of names) {
    const pid = Number(name.slice(PREFIX.length).split("-")[0]);
    if (!isRunning(pid)) await rmdir(join(parent, name)).catch(() => undefined);
  }
}
