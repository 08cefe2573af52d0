// The work tree of a session with the place of its checkpoints: everything that sessions do with it.
import { join } from "node:path";
import { listTree, readSizes } from "./blobs.ts";
import { type Blob, compareTrees, type FileHunks, readHunks, type TreeChange } from "./compare.ts";
import { type RawPath, toRawPath } from "./paths.ts";
import { PrivateGitDir } from "./private-dir.ts";
import type { Repository } from "./repository.ts";
import { findObstacle, type RestoreStep, restoreFiles } from "./restore.ts";
import type { Git } from "./run.ts";
import { readGitSettings } from "./settings.ts";
import { type Snapshot, type SnapshotLimits, Snapshots } from "./snapshot.ts";

export interface WorkTreeOrder extends SnapshotLimits {
  git: Git;
  repository: Repository;
  /** The directory of our own git directory; created if missing. */
  place: string;
  /** The daemon's environment, for the user's ignore rules. */
  env: Readonly<Record<string, string | undefined>>;
  /** Directories that belong to us and are never part of it. */
  hidden: readonly string[];
}

/** Throws `git_failed`, and errors of the disk. */
export async function openWorkTree(order: WorkTreeOrder): Promise<WorkTree> {
  const { git, repository, env, place, hidden } = order;
  const settings = await readGitSettings(git, repository, env);
  const dir = new PrivateGitDir(join(place, "git"), { git, repository, settings });
  await dir.prepare();
  const { root } = repository;
  const below = root === "/" ? root : `${root}/`;
  const inside = hidden.filter((path) => path.startsWith(below));
  const raw = inside.map((path) => toRawPath(Buffer.from(path.slice(below.length), "utf8")));
  return new WorkTree(dir, new Snapshots(dir, order, raw));
}

export class WorkTree {
  readonly #dir: PrivateGitDir;
  readonly #snapshots: Snapshots;

  constructor(dir: PrivateGitDir, snapshots: Snapshots) {
    this.#dir = dir;
    this.#snapshots = snapshots;
  }

  get root(): string {
    return this.#dir.repository.root;
  }

  recall(nested: Iterable<RawPath>): void {
    this.#snapshots.recall(nested);
  }

  /** Throws `git_failed`. One at a time. */
  take(signal?: AbortSignal): Promise<Snapshot> {
    return this.#snapshots.take(signal);
  }

  /** After a failure: the next snapshot looks at every file. */
  forget(): Promise<void> {
    return this.#dir.forgetIndex();
  }

  compare(pair: readonly [from: string, to: string], how: { findsRenames: boolean }): Promise<TreeChange[]> {
    return compareTrees(this.#dir, pair, how);
  }

  readHunks(before: Blob | undefined, after: Blob | undefined): Promise<FileHunks> {
    return readHunks(this.#dir, before, after);
  }

  listTree(tree: string): Promise<Map<RawPath, Blob>> {
    return listTree(this.#dir, tree);
  }

  readSizes(oids: Iterable<string>): Promise<Map<string, number>> {
    return readSizes(this.#dir, oids);
  }

  findObstacle(step: RestoreStep, steps: ReadonlyMap<RawPath, RestoreStep>): Promise<string | undefined> {
    return findObstacle(this.root, step, steps);
  }

  /** `kept`: directories that stay even if they are empty then. */
  restore(steps: readonly RestoreStep[], kept: readonly string[]): Promise<void> {
    return restoreFiles(this.#dir, steps, kept);
  }
}
