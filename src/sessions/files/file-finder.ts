// Finds files of a session's directory by a few letters of their names. Lists are kept for a few seconds, so that not every
// key reads the directory. Nothing outside of the directory is found, also not through links.
import { realpath, stat } from "node:fs/promises";
import { join, sep } from "node:path";
import { findBestMatches } from "../../base/fuzzy.ts";
import { type FoundGit, keepFoundGit, listWorkTreeFiles } from "../../git/index.ts";
import type { FilesReply, FoundFile } from "../../protocol/files.ts";
import { walkFiles } from "./walk-files.ts";

export interface FileFinderParts {
  env: Readonly<Record<string, string | undefined>>;
  /** Absent: with the PATH of `env`. */
  findGit?(): Promise<FoundGit>;
  limits?: Partial<typeof LIMITS>;
}

export interface FilesOrder {
  match: string;
  limit: number;
}

export const LIMITS = {
  maxFiles: 50_000,
  /** Of git's list. */
  maxBytes: 8 * 1024 * 1024,
  timeoutMs: 3_000,
  keptMs: 5_000,
};
const MAX_ROOTS = 16;
/** Candidates for each result: some may be deleted, or lead outside. */
const SPARE = 2;

interface Candidate extends FoundFile {
  lower: string;
}

interface Listing {
  candidates: readonly Candidate[];
  isCut: boolean;
}

interface Kept {
  listing: Promise<Listing>;
  /** Undefined while it is being read. */
  readAtMs?: number;
}

export class FileFinder {
  readonly #env: FileFinderParts["env"];
  readonly #limits: typeof LIMITS;
  readonly #kept = new Map<string, Kept>();
  readonly #findGit: () => Promise<FoundGit>;

  constructor({ env, findGit = keepFoundGit(env), limits = {} }: FileFinderParts) {
    this.#env = env;
    this.#findGit = findGit;
    this.#limits = { ...LIMITS, ...limits };
  }

  /** `cwd`: the session's directory. */
  async find(cwd: string | undefined, { match, limit }: FilesOrder): Promise<Omit<FilesReply, "session_id">> {
    if (cwd === undefined) return { files: [], reason: "the session has no directory" };
    const root = await realpath(cwd).catch(() => undefined);
    if (root === undefined) return { files: [], reason: `the directory ${cwd} does not exist` };
    const { candidates, isCut } = await this.#list(root);
    const ranked = findBestMatches(match, candidates, {
      limit: limit * SPARE,
      toLower: ({ lower }) => lower,
    });
    const checked = await Promise.all(ranked.map((one) => checkInside(root, one)));
    const files = checked.filter((file) => file !== undefined).slice(0, limit);
    return { files, ...(isCut ? { is_cut: true } : {}) };
  }

  #list(root: string): Promise<Listing> {
    const known = this.#kept.get(root);
    const isFresh =
      known !== undefined &&
      (known.readAtMs === undefined || Date.now() - known.readAtMs < this.#limits.keptMs);
    if (isFresh) return known.listing;
    const kept: Kept = { listing: this.#read(root) };
    this.#kept.delete(root);
    this.#kept.set(root, kept);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAX_ROOTS && oldest !== undefined) this.#kept.delete(oldest);
    void kept.listing.then(() => {
      kept.readAtMs = Date.now();
    });
    return kept.listing;
  }

  /** Never rejects: without git, or if git fails, the directory is read. */
  async #read(root: string): Promise<Listing> {
    const { maxFiles, maxBytes, timeoutMs } = this.#limits;
    const { git } = await this.#findGit();
    const order = { env: this.#env, maxBytes, timeoutMs };
    const listed = git && (await listWorkTreeFiles(git, root, order).catch(() => undefined));
    const { paths, isCut } = listed ?? (await walkFiles(root, { maxFiles, timeoutMs }));
    const files = paths.slice(0, maxFiles);
    return { candidates: toCandidates(files), isCut: isCut || files.length < paths.length };
  }
}

/** Files, and the directories that they are in; those near the root first. */
function toCandidates(paths: readonly string[]): Candidate[] {
  const folders = new Set<string>();
  for (const path of paths) {
    for (let at = path.indexOf("/"); at >= 0; at = path.indexOf("/", at + 1)) {
      folders.add(path.slice(0, at + 1));
    }
  }
  return [
    ...paths.map((path): Candidate => ({ path, lower: path.toLowerCase() })),
    ...[...folders].map((path): Candidate => ({ path, is_directory: true, lower: path.toLowerCase() })),
  ].sort((one, other) => countParts(one.path) - countParts(other.path));
}

function countParts(path: string): number {
  let count = 0;
  for (let at = path.indexOf("/"); at >= 0; at = path.indexOf("/", at + 1)) count += 1;
  return count;
}

/** Undefined if it was deleted, or is or leads through a link to somewhere else. */
async function checkInside(root: string, { path }: Candidate): Promise<FoundFile | undefined> {
  const real = await realpath(join(root, path)).catch(() => undefined);
  const prefix = root === sep ? sep : `${root}${sep}`;
  if (real === undefined || !real.startsWith(prefix)) return undefined;
  const info = await stat(real).catch(() => undefined);
  if (info === undefined || !(info.isFile() || info.isDirectory())) return undefined;
  return info.isDirectory() ? { path: path.endsWith("/") ? path : `${path}/`, is_directory: true } : { path };
}
