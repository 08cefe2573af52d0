// Searches a workspace for environment files and git directories before each command. Nothing is skipped: a command could
// move a file to a skipped directory, and the next one could read it there. Unchanged directories are not listed again.
import { accessSync, type BigIntStats, constants, lstatSync, readdirSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { readErrno } from "../../base/coded-error.ts";
import { ToolError } from "../tools/types.ts";
import { isSecretPath } from "../workspace/protected.ts";
import { HardLinks, type Listed, readLinkedIdentity } from "./hard-links.ts";

/** A directory costs about 50 µs at first and 10 µs later; beyond this every command would take seconds. */
const MAX_DIRECTORIES = 250_000;
/** Directories listed before yielding to the event loop. */
const DIRECTORIES_PER_TICK = 200;
/** Leaves room for bubblewrap's prefix and a file name within the kernel's 4096 bytes. */
const MAX_PATH_BYTES = 3800;
/** Limit for entries in directories whose names are not UTF-8, which are very rare. */
const MAX_NAMELESS = 5000;
/** Changes within one tick of the file system's clock are indistinguishable, so only older ones are trusted. */
const SETTLED_MS = 2000;

export interface Finds {
  /**
   * Files, directories and links named like environment files; other names (hard links) of such files; and directories
   * that cannot be read now, or that contain such files under a path that cannot be passed as an argument.
   */
  secrets: string[];
  /** Named `.git`. */
  gits: string[];
}

/** A directory when it was listed. `ctime` cannot be forged. */
type Stamp = Pick<BigIntStats, "dev" | "ino" | "ctimeNs">;

interface Listing extends Finds {
  /** Undefined if a later change might go unnoticed. */
  stamp: Stamp | undefined;
  directories: string[];
  /** Directories and environment files whose names are not UTF-8 and cannot be passed as an argument. */
  nameless: Buffer[];
}

export class Tree {
  readonly root: string;
  readonly #maxDirectories: number;
  readonly #hardLinks = new HardLinks();
  #known = new Map<string, Listing>();

  constructor(root: string, maxDirectories = MAX_DIRECTORIES) {
    this.root = root;
    this.#maxDirectories = maxDirectories;
  }

  /** Returns absolute paths. Throws `workspace_too_large` and `workspace_too_odd`, if files could not be protected. */
  async search(): Promise<Finds> {
    const found: Finds = { secrets: [], gits: [] };
    const known = new Map<string, Listing>();
    const listed: Listed[] = [];
    const open = [this.root];
    let seen = 0;
    for (let directory = open.pop(); directory !== undefined; directory = open.pop()) {
      seen += 1;
      if (seen > this.#maxDirectories) throw createTooLargeError(this.root, this.#maxDirectories);
      if (seen % DIRECTORIES_PER_TICK === 0) await setImmediate();
      const listing = this.#list(directory);
      if (listing === "closed") found.secrets.push(directory);
      if (listing === "closed" || listing === "gone") continue;
      if (listing.stamp !== undefined) known.set(directory, listing);
      if (this.#containsUnnameable(directory, listing)) {
        found.secrets.push(directory);
        continue;
      }
      listed.push({ path: directory, stamp: listing.stamp });
      for (const path of listing.secrets) found.secrets.push(path);
      for (const path of listing.gits) found.gits.push(path);
      for (const path of listing.directories) open.push(path);
    }
    this.#known = known;
    for (const path of await this.#findHardLinks(found.secrets, listed)) found.secrets.push(path);
    return found;
  }

  /** Other names of environment files. Throws `workspace_too_odd` for one that is not UTF-8. */
  async #findHardLinks(secrets: readonly string[], listed: readonly Listed[]): Promise<string[]> {
    const identities = new Set(secrets.flatMap((path) => readLinkedIdentity(path) ?? []));
    if (identities.size === 0) return [];
    const known = new Set(secrets);
    const links = await this.#hardLinks.find(identities, listed);
    return links.flatMap((path) => {
      if (typeof path !== "string") throw createTooOddError(this.root, path.toString("latin1"));
      return known.has(path) ? [] : [path];
    });
  }

  /** Then the whole directory has to be masked. Throws `workspace_too_odd` if it is the workspace. */
  #containsUnnameable(directory: string, { directories, nameless }: Listing): boolean {
    const budget = { left: MAX_NAMELESS };
    const odd =
      directories.find(
        (path) => path.length > MAX_PATH_BYTES / 3 && Buffer.byteLength(path) > MAX_PATH_BYTES,
      ) ??
      nameless
        .find((name) => containsSecrets(joinPath(Buffer.from(directory), name), budget))
        ?.toString("latin1");
    if (odd !== undefined && directory === this.root) throw createTooOddError(this.root, odd);
    return odd !== undefined;
  }

  /** "closed": not readable now, but a command could make it so with chmod. */
  #list(directory: string): Listing | "closed" | "gone" {
    try {
      const stats = lstatSync(directory, { bigint: true });
      if (!stats.isDirectory()) return "gone";
      const before = this.#known.get(directory);
      return before !== undefined && isSame(before.stamp, stats)
        ? before
        : listDirectory(directory, readStamp(stats));
    } catch (error) {
      return isGone(error) ? "gone" : "closed";
    }
  }
}

function isSame(before: Stamp | undefined, { dev, ino, ctimeNs }: Stamp): boolean {
  return before !== undefined && before.ino === ino && before.ctimeNs === ctimeNs && before.dev === dev;
}

function readStamp({ dev, ino, ctimeNs, ctimeMs }: BigIntStats): Stamp | undefined {
  return Date.now() - Number(ctimeMs) > SETTLED_MS ? { dev, ino, ctimeNs } : undefined;
}

function listDirectory(directory: string, stamp: Stamp | undefined): Listing {
  accessSync(directory, constants.R_OK | constants.X_OK);
  const listing: Listing = { stamp, secrets: [], gits: [], directories: [], nameless: [] };
  let isText = true;
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const { name } = entry;
    isText &&= !name.includes("\ufffd");
    const path = `${directory}/${name}`;
    if (isSecretPath(name)) listing.secrets.push(path);
    else {
      if (name.toLowerCase() === ".git") listing.gits.push(path);
      if (entry.isDirectory()) listing.directories.push(path);
    }
  }
  return isText ? listing : { ...listing, nameless: listNameless(directory) };
}

function listNameless(directory: string): Buffer[] {
  const entries = readdirSync(directory, { withFileTypes: true, encoding: "buffer" });
  const nameless = entries.filter(({ name }) => !Buffer.from(name.toString()).equals(name));
  return nameless
    .filter((entry) => entry.isDirectory() || isSecretPath(entry.name.toString()))
    .map(({ name }) => name);
}

/** Unknown counts as yes. */
function containsSecrets(path: Buffer, budget: { left: number }): boolean {
  budget.left -= 1;
  if (budget.left < 0) return true;
  try {
    if (!lstatSync(path).isDirectory()) return true;
    return readdirSync(path, { withFileTypes: true, encoding: "buffer" }).some((entry) => {
      const name = entry.name.toString();
      if (isSecretPath(name) || name.toLowerCase() === ".git") return true;
      return entry.isDirectory() && containsSecrets(joinPath(path, entry.name), budget);
    });
  } catch (error) {
    return !isGone(error);
  }
}

function joinPath(directory: Buffer, name: Buffer): Buffer {
  return Buffer.concat([directory, Buffer.from("/"), name]);
}

function isGone(error: unknown): boolean {
  return readErrno(error) === "ENOENT" || readErrno(error) === "ENOTDIR";
}

function createTooOddError(root: string, name: string): ToolError {
  const what = `${JSON.stringify(name)} in the workspace ${root} contains environment files or a repository that cannot be protected, because its name is not UTF-8 or its path is too long`;
  return new ToolError("workspace_too_odd", `${what}; rename or delete it`);
}

function createTooLargeError(root: string, most: number): ToolError {
  const what = `the workspace ${root} has more than ${most} directories, too many to protect its environment files`;
  return new ToolError(
    "workspace_too_large",
    `${what}; start in a subdirectory, or delete unneeded directories`,
  );
}
