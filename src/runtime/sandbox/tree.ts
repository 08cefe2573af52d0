// Searches a workspace for environment files and git directories before each command. Nothing is left out: a command
// could move a file to wherever nobody looks, and the next one read it there. What has not changed is not listed again.
import { accessSync, type BigIntStats, constants, lstatSync, readdirSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { errnoOf } from "../../base/coded-error.ts";
import { ToolError } from "../tools/types.ts";
import { isSecretPath } from "../workspace/protected.ts";

/** A directory costs some 50 µs at first and 10 µs later; with more of them every command would take seconds. */
const MAX_DIRECTORIES = 250_000;
/** Looked at between two chances for everything else in the process. */
const DIRECTORIES_A_TIME = 200;
/** What bubblewrap puts before a path, and a name below it, still fit into the 4096 bytes that the kernel takes. */
const MAX_PATH_BYTES = 3800;
/** Looked at in directories whose names are no text; there are hardly ever any. */
const MAX_NAMELESS = 5000;
/** Changes within one tick of the file system's clock look like one: only what is older is known for certain. */
const SETTLED_MS = 2000;

export interface Finds {
  /**
   * Named like environment files: files, directories, links. And directories that nobody can look into just now, or
   * that hold such files under a path that cannot be named.
   */
  secrets: string[];
  /** Named `.git`. */
  gits: string[];
}

/** Of a directory when it was listed. Nobody can set `ctime`. */
type Stamp = Pick<BigIntStats, "dev" | "ino" | "ctimeNs">;

interface Listing extends Finds {
  /** Undefined: it may have changed since then without a sign of it. */
  stamp: Stamp | undefined;
  directories: string[];
  /** Directories and environment files whose names are no UTF-8: no argument of a program can be made of them. */
  nameless: Buffer[];
}

export class Tree {
  readonly root: string;
  readonly #maxDirectories: number;
  #known = new Map<string, Listing>();

  constructor(root: string, maxDirectories = MAX_DIRECTORIES) {
    this.root = root;
    this.#maxDirectories = maxDirectories;
  }

  /** Absolute paths. Throws `workspace_too_large` and `workspace_too_odd`: what is not found cannot be protected. */
  async search(): Promise<Finds> {
    const found: Finds = { secrets: [], gits: [] };
    const known = new Map<string, Listing>();
    const open = [this.root];
    let seen = 0;
    for (let directory = open.pop(); directory !== undefined; directory = open.pop()) {
      seen += 1;
      if (seen > this.#maxDirectories) throw tooLarge(this.root, this.#maxDirectories);
      if (seen % DIRECTORIES_A_TIME === 0) await setImmediate();
      const listing = this.#list(directory);
      if (listing === "closed") found.secrets.push(directory);
      if (listing === "closed" || listing === "gone") continue;
      if (listing.stamp !== undefined) known.set(directory, listing);
      if (this.#holdsUnnameable(directory, listing)) {
        found.secrets.push(directory);
        continue;
      }
      for (const path of listing.secrets) found.secrets.push(path);
      for (const path of listing.gits) found.gits.push(path);
      for (const path of listing.directories) open.push(path);
    }
    this.#known = known;
    return found;
  }

  /** Only the directory itself can then be taken away. Throws `workspace_too_odd` when that is the workspace. */
  #holdsUnnameable(directory: string, { directories, nameless }: Listing): boolean {
    const budget = { left: MAX_NAMELESS };
    const odd =
      directories.find(
        (path) => path.length > MAX_PATH_BYTES / 3 && Buffer.byteLength(path) > MAX_PATH_BYTES,
      ) ??
      nameless.find((name) => holdsSecrets(joined(Buffer.from(directory), name), budget))?.toString("latin1");
    if (odd !== undefined && directory === this.root) throw tooOdd(this.root, odd);
    return odd !== undefined;
  }

  /** "closed": a command could open it again (chmod), and then read what we did not find. */
  #list(directory: string): Listing | "closed" | "gone" {
    try {
      const stats = lstatSync(directory, { bigint: true });
      if (!stats.isDirectory()) return "gone";
      const before = this.#known.get(directory);
      return before !== undefined && isSame(before.stamp, stats) ? before : listed(directory, stampOf(stats));
    } catch (error) {
      return isGone(error) ? "gone" : "closed";
    }
  }
}

function isSame(before: Stamp | undefined, { dev, ino, ctimeNs }: Stamp): boolean {
  return before !== undefined && before.ino === ino && before.ctimeNs === ctimeNs && before.dev === dev;
}

function stampOf({ dev, ino, ctimeNs, ctimeMs }: BigIntStats): Stamp | undefined {
  return Date.now() - Number(ctimeMs) > SETTLED_MS ? { dev, ino, ctimeNs } : undefined;
}

function listed(directory: string, stamp: Stamp | undefined): Listing {
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

/** What cannot be found out counts as a yes. */
function holdsSecrets(path: Buffer, budget: { left: number }): boolean {
  budget.left -= 1;
  if (budget.left < 0) return true;
  try {
    if (!lstatSync(path).isDirectory()) return true;
    return readdirSync(path, { withFileTypes: true, encoding: "buffer" }).some((entry) => {
      const name = entry.name.toString();
      if (isSecretPath(name) || name.toLowerCase() === ".git") return true;
      return entry.isDirectory() && holdsSecrets(joined(path, entry.name), budget);
    });
  } catch (error) {
    return !isGone(error);
  }
}

function joined(directory: Buffer, name: Buffer): Buffer {
  return Buffer.concat([directory, Buffer.from("/"), name]);
}

function isGone(error: unknown): boolean {
  return errnoOf(error) === "ENOENT" || errnoOf(error) === "ENOTDIR";
}

function tooOdd(root: string, name: string): ToolError {
  const what = `${JSON.stringify(name)} in the workspace ${root} holds environment files or a repository, and its name is no text or its path too long: they could not be protected`;
  return new ToolError("workspace_too_odd", `${what}; rename or delete it`);
}

function tooLarge(root: string, most: number): ToolError {
  const what = `the workspace ${root} has more than ${most} directories: environment files in it could not be protected`;
  return new ToolError(
    "workspace_too_large",
    `${what}; start in a directory below, or delete what is not needed`,
  );
}
