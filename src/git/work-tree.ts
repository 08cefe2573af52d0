// The work tree of a session with the place of its checkpoints: everything that sessions do with it.
import { access } from "node:fs/promises";
import { join } from "node:path";
import { type FoundBase, findBase, type RecordedBase, recordBase } from "./base.ts";
import { listTree, readSizes } from "./blobs.ts";
import { type Blob, compareTrees, type FileHunks, readHunks, type TreeChange } from "./compare.ts";
import { type RawPath, splitLongFields, toDiskPath, toRawPath } from "./paths.ts";
import { PrivateGitDir } from "./private-dir.ts";
import type { Repository } from "./repository.ts";
import { findObstacle, type RestoreStep, restoreFiles } from "./restore.ts";
import type { Git } from "./run.ts";
import { mayConvertContent, readGitSettings } from "./settings.ts";
import { type Snapshot, type SnapshotLimits, Snapshots } from "./snapshot.ts";

const ATTRIBUTES = ".gitattributes";

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
  return new WorkTree(git, dir, new Snapshots(dir, order, raw));
}

export class WorkTree {
  readonly #git: Git;
  readonly #dir: PrivateGitDir;
  readonly #snapshots: Snapshots;

  constructor(git: Git, dir: PrivateGitDir, snapshots: Snapshots) {
    this.#git = git;
    this.#dir = dir;
    this.#snapshots = snapshots;
  }

  get root(): string {
    return this.#dir.repository.root;
  }

  /** The same for all worktrees of a repository. */
  get commonDir(): string {
    return this.#dir.repository.commonDir;
  }

  recordBase(): Promise<RecordedBase> {
    return recordBase(this.#git, this.#dir.repository);
  }

  /**
   * Undefined: where the session began. `converted`, `sparse`: so too, because commits have other bytes, or other files, than
   * the work tree. Throws `git_failed`.
   */
  async findBase(recorded: RecordedBase): Promise<FoundBase | "converted" | "sparse" | undefined> {
    const { repository } = this.#dir;
    const found = await findBase(this.#git, repository, recorded);
    if (found === undefined) return undefined;
    if (await exists(join(repository.gitDir, "info", "sparse-checkout"))) return "sparse";
    return (await this.#converts()) ? "converted" : found;
  }

  async #converts(): Promise<boolean> {
    if (this.#dir.settings.mayConvert) return true;
    const paths = await splitLongFields(await this.#dir.expect({ args: ["ls-files", "-z"] }));
    const files = paths.filter((path) => path === ATTRIBUTES || path.endsWith(`/${ATTRIBUTES}`));
    return mayConvertContent(files.map((path) => toDiskPath(this.root, path)));
  }

  recall(nested: Iterable<RawPath>): void {
    this.#snapshots.recall(nested);
  }

  /** Throws `git_failed`. One at a time. */
  take(signal?: AbortSignal): Promise<Snapshot> {
    return this.#snapshots.take(signal);
  }

  /** Takes over what another one of the same directory has just recorded. False: it has to look itself. */
  adopt(other: WorkTree, snapshot: Snapshot): Promise<boolean> {
    return this.#snapshots.adopt(other.#snapshots, snapshot);
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

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
