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
/** Changes within one tick of the file system's clock look like one: only what is older is known for certain. */
const SETTLED_MS = 2000;

export interface Finds {
  /** Named like environment files: files, directories, links. And directories that nobody can look into just now. */
  secrets: string[];
  /** Named `.git`. */
  gits: string[];
}

interface Listing extends Finds {
  /** Of the directory when it was listed. Nobody can set `ctime`. */
  stamp: string;
  directories: string[];
}

export class Tree {
  readonly root: string;
  readonly #maxDirectories: number;
  #known = new Map<string, Listing>();

  constructor(root: string, maxDirectories = MAX_DIRECTORIES) {
    this.root = root;
    this.#maxDirectories = maxDirectories;
  }

  /** Absolute paths. Throws `workspace_too_large`: what is not found cannot be protected. */
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
      if (listing.stamp !== "") known.set(directory, listing);
      for (const name of listing.secrets) found.secrets.push(`${directory}/${name}`);
      for (const name of listing.gits) found.gits.push(`${directory}/${name}`);
      for (const name of listing.directories) open.push(`${directory}/${name}`);
    }
    this.#known = known;
    return found;
  }

  /** "closed": a command could open it again (chmod), and then read what we did not find. */
  #list(directory: string): Listing | "closed" | "gone" {
    try {
      const stats = lstatSync(directory, { bigint: true });
      if (!stats.isDirectory()) return "gone";
      const stamp = stampOf(stats);
      const before = this.#known.get(directory);
      return before !== undefined && before.stamp === stamp ? before : listed(directory, stamp);
    } catch (error) {
      return errnoOf(error) === "ENOENT" || errnoOf(error) === "ENOTDIR" ? "gone" : "closed";
    }
  }
}

/** Empty: it may change without a sign of it. */
function stampOf({ dev, ino, ctimeNs, ctimeMs }: BigIntStats): string {
  return Date.now() - Number(ctimeMs) > SETTLED_MS ? `${dev}:${ino}:${ctimeNs}` : "";
}

function listed(directory: string, stamp: string): Listing {
  accessSync(directory, constants.R_OK | constants.X_OK);
  const listing: Listing = { stamp, secrets: [], gits: [], directories: [] };
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const { name } = entry;
    if (isSecretPath(name)) listing.secrets.push(name);
    else {
      if (name.toLowerCase() === ".git") listing.gits.push(name);
      if (entry.isDirectory()) listing.directories.push(name);
    }
  }
  return listing;
}

function tooLarge(root: string, most: number): ToolError {
  const what = `the workspace ${root} has more than ${most} directories: environment files in it could not be protected`;
  return new ToolError(
    "workspace_too_large",
    `${what}; start in a directory below, or delete what is not needed`,
  );
}
