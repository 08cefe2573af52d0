// Finds the other names of an environment file: hard links in the workspace have the same contents under any name. Needs
// the inode of every file, so it is used only if such a file has several names.
import { type BigIntStats, lstatSync, readdirSync, statSync } from "node:fs";
import { setImmediate } from "node:timers/promises";

/** Files looked at before yielding to the event loop. */
const FILES_PER_TICK = 500;

/** A directory when it was listed; the stamp is undefined if a later change might go unnoticed. */
export interface Listed {
  path: string;
  stamp: object | undefined;
}

interface Files {
  stamp: object;
  /** Names by identity. A file keeps it as long as the directory is unchanged. */
  names: Map<string, Buffer[]>;
}

/** `device:inode` of a file with several names; undefined for all others. */
export function readLinkedIdentity(path: string): string | undefined {
  try {
    const stats = statSync(path, { bigint: true });
    return stats.isFile() && stats.nlink > 1n ? toIdentity(stats) : undefined;
  } catch {
    return undefined; // Gone, or a broken link.
  }
}

export function toIdentity({ dev, ino }: Pick<BigIntStats, "dev" | "ino">): string {
  return `${dev}:${ino}`;
}

export class HardLinks {
  #known = new Map<string, Files>();

  /** The names of these files, as paths; as bytes if they are not UTF-8. */
  async find(identities: ReadonlySet<string>, directories: readonly Listed[]): Promise<(string | Buffer)[]> {
    const known = new Map<string, Files>();
    const found: (string | Buffer)[] = [];
    let seen = 0;
    for (const { path, stamp } of directories) {
      const before = this.#known.get(path);
      const names = before !== undefined && before.stamp === stamp ? before.names : readNames(path);
      if (stamp !== undefined) known.set(path, { stamp, names });
      for (const identity of identities) {
        for (const name of names.get(identity) ?? []) found.push(joinName(path, name));
      }
      seen += before?.names === names ? 1 : names.size;
      if (seen < FILES_PER_TICK) continue;
      seen = 0;
      await setImmediate();
    }
    this.#known = known;
    return found;
  }
}

function readNames(directory: string): Map<string, Buffer[]> {
  const names = new Map<string, Buffer[]>();
  for (const { name } of listFiles(directory)) {
    const identity = readIdentity(Buffer.concat([Buffer.from(`${directory}/`), name]));
    if (identity !== undefined) names.set(identity, [...(names.get(identity) ?? []), name]);
  }
  return names;
}

function listFiles(directory: string) {
  try {
    const entries = readdirSync(directory, { withFileTypes: true, encoding: "buffer" });
    return entries.filter((entry) => entry.isFile());
  } catch {
    return []; // Gone since it was listed.
  }
}

function readIdentity(path: Buffer): string | undefined {
  try {
    return toIdentity(lstatSync(path, { bigint: true }));
  } catch {
    return undefined;
  }
}

function joinName(directory: string, name: Buffer): string | Buffer {
  const text = name.toString();
  return Buffer.from(text).equals(name) ? `${directory}/${text}` : name;
}
