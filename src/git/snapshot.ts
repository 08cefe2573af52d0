// Records the work tree as a tree object, with every byte as it is on disk, in the git directory of our own. The user's
// index, HEAD, stash and refs are only read.
import { constants } from "node:fs";
import { access, lstat, stat } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { mapBounded } from "../base/map-bounded.ts";
import { joinLongFields, listParents, type RawPath, splitLongFields, toDiskPath } from "./paths.ts";
import type { PrivateGitDir } from "./private-dir.ts";
import { listTrackedIgnored, seedIndex } from "./seed.ts";

export interface Snapshot {
  tree: string;
  /** Files larger than the limit, which are not in the tree: their size and time of change. */
  large: ReadonlyMap<RawPath, string>;
  /** Repositories inside the work tree. Those with a commit are in the tree as that commit. */
  nested: readonly RawPath[];
  /** Files that we may not read, and changed ones of other kinds, such as sockets. */
  unreadable: readonly RawPath[];
}

export interface SnapshotLimits {
  /** Larger files are not kept. */
  maxFileBytes: number;
  timeoutMs: number;
}

const PARALLEL = 64;
/** Linking more objects takes longer than looking at the files. */
const MAX_ADOPTED = 5000;
const IGNORE_FILE = /(^|\/)\.gitignore$/;
/** More than this many changed paths are not a work tree that somebody edits by hand. */
const MAX_LIST_BYTES = 256 * 1024 * 1024;

/** What is to be done with the entries of the index. */
interface Changes {
  add: RawPath[];
  remove: RawPath[];
}

export class Snapshots {
  readonly #dir: PrivateGitDir;
  readonly #limits: SnapshotLimits;
  /** Directories of our own inside the work tree. */
  readonly #hidden: readonly RawPath[];
  #last: string | undefined;
  #nested = new Set<RawPath>();
  /** When the user's index was last asked for files that ignore rules match. */
  #seenIndexMs: number | undefined;
  /** Any new index of this work tree would have the same entries: no ignore rule has changed since this one was new. */
  #isPlain = false;
  /** When the ignore rules outside the work tree last changed. */
  #rules: string | undefined;

  constructor(dir: PrivateGitDir, limits: SnapshotLimits, hidden: readonly RawPath[] = []) {
    this.#dir = dir;
    this.#limits = limits;
    this.#hidden = hidden;
  }

  /** Repositories in the work tree that an earlier process has found. */
  recall(nested: Iterable<RawPath>): void {
    for (const path of nested) this.#nested.add(path);
  }

  /**
   * Takes over what another one of this work tree has just recorded, if it would record the same itself. False: it has to.
   * Throws errors of the disk.
   */
  async adopt(other: Snapshots, { tree }: Snapshot): Promise<boolean> {
    const isAlike = isDeepStrictEqual(this.#dir.settings, other.#dir.settings);
    if (!other.#isPlain || !isAlike) return false;
    if (!this.#isPlain && (await this.#dir.hasIndex())) return false;
    const objects = await other.#dir.listObjects(MAX_ADOPTED);
    if (objects === undefined) return false;
    await this.#dir.adopt(other.#dir, objects);
    this.#last = tree;
    this.#nested = new Set(other.#nested);
    this.#seenIndexMs = other.#seenIndexMs;
    this.#rules = other.#rules;
    this.#isPlain = true;
    return true;
  }

  /** Throws `git_failed`. One at a time. */
  async take(signal?: AbortSignal): Promise<Snapshot> {
    const copy = await this.#dir.copyIndex();
    let index = copy.name;
    try {
      if (copy.isEmpty) {
        const seed = await seedIndex(this.#dir);
        if (seed !== undefined) {
          index = seed.index;
          this.recall(seed.nested);
        }
      }
      const snapshot = await this.#update(index, copy.isEmpty, signal);
      await this.#dir.keepIndex(index);
      this.#last = snapshot.tree;
      return snapshot;
    } catch (error) {
      await this.#dir.dropIndex(index);
      throw error;
    }
  }

  async #update(index: string, isNew: boolean, signal: AbortSignal | undefined): Promise<Snapshot> {
    const call = {
      index,
      timeoutMs: this.#limits.timeoutMs,
      maxBytes: MAX_LIST_BYTES,
      ...(signal && { signal }),
    };
    await this.#forgetGoneRepositories(call);
    const [changed, others, ignored] = await Promise.all([
      this.#dir.expect({
        args: ["diff-files", "--name-only", "--no-renames", "--ignore-submodules=dirty", "-z"],
        ...call,
      }),
      this.#dir.expect({
        args: ["ls-files", "--others", "--exclude-standard", ...this.#hide(), "-z"],
        ...call,
      }),
      this.#listIgnored(),
    ]);
    const seen = [
      ...new Set([...(await splitLongFields(changed)), ...(await splitLongFields(others)), ...ignored]),
    ];
    if (ignored.length > 0) this.#isPlain = false;
    await this.#noteRules(seen, isNew && ignored.length === 0);
    const repositories = seen.filter((path) => path.endsWith("/")).map((path) => path.slice(0, -1));
    for (const path of repositories) this.#nested.add(path);
    const files = seen.filter((path) => !path.endsWith("/"));
    const found = await this.#look(files);
    const { add, remove } = found;
    if (remove.length > 0) await this.#feed(["--force-remove"], remove, call);
    if (add.length > 0) await this.#feed(["--add", "--remove", "--replace"], add, call);
    // One that has no commit yet cannot be recorded, and must not stop the others.
    for (const path of repositories) {
      await this.#dir.run({
        args: ["update-index", "--add", "--replace", "-z", "--stdin"],
        input: await joinLongFields([path]),
        ...call,
      });
    }
    const isSame = add.length + remove.length + repositories.length === 0;
    const tree =
      isSame && this.#last !== undefined
        ? this.#last
        : (await this.#dir.expect({ args: ["write-tree"], ...call })).toString("utf8").trim();
    const large = new Map([...found.large].sort(([a], [b]) => (a < b ? -1 : 1)));
    return { tree, large, nested: [...this.#nested].sort(), unreadable: found.unreadable };
  }

  /** Files that were recorded stay in an index when rules begin to ignore them. */
  async #noteRules(seen: readonly RawPath[], isNew: boolean): Promise<void> {
    const { commonDir } = this.#dir.repository;
    const { excludesFile = "/dev/null" } = this.#dir.settings;
    const times = await Promise.all(
      [join(commonDir, "info", "exclude"), excludesFile].map(async (path) => {
        return (await stat(path).catch(() => undefined))?.mtimeMs;
      }),
    );
    const rules = times.join(" ");
    const isChanged = rules !== this.#rules || seen.some((path) => IGNORE_FILE.test(path));
    this.#isPlain = isNew || (this.#isPlain && !isChanged);
    this.#rules = rules;
  }

  #hide(): string[] {
    return this.#hidden.map((path) => `--exclude=/${path.replace(/[\\*?[\]!#]/g, "\\$&")}`);
  }

  /** A directory that is no repository any longer has files of its own again, which git would not list. */
  async #forgetGoneRepositories(call: { index: string; timeoutMs: number }): Promise<void> {
    const gone: RawPath[] = [];
    for (const path of this.#nested) {
      if (!(await lstat(toDiskPath(this.#dir.repository.root, `${path}/.git`)).catch(() => undefined)))
        gone.push(path);
    }
    if (gone.length === 0) return;
    await this.#feed(["--force-remove"], gone, call);
    for (const path of gone) this.#nested.delete(path);
    this.#last = undefined;
  }

  /** New files that are tracked although ignore rules match them; older ones are in our index. */
  async #listIgnored(): Promise<RawPath[]> {
    const { gitDir } = this.#dir.repository;
    const changedMs = (await stat(join(gitDir, "index")).catch(() => undefined))?.mtimeMs;
    if (changedMs === undefined || changedMs === this.#seenIndexMs) return [];
    const paths = await listTrackedIgnored(this.#dir);
    this.#seenIndexMs = changedMs;
    return paths;
  }

  async #look(paths: readonly RawPath[]): Promise<Changes & Pick<Snapshot, "large" | "unreadable">> {
    const { root } = this.#dir.repository;
    const add: RawPath[] = [];
    const remove: RawPath[] = [];
    const unreadable: RawPath[] = [];
    const large = new Map<RawPath, string>();
    const links = new Map<RawPath, Promise<boolean>>();
    const isLink = (path: RawPath): Promise<boolean> => {
      const known =
        links.get(path) ??
        lstat(toDiskPath(root, path)).then(
          (info) => info.isSymbolicLink(),
          () => false,
        );
      links.set(path, known);
      return known;
    };
    await mapBounded(paths, PARALLEL, async (path) => {
      const place = toDiskPath(root, path);
      const [info, throughLink] = await Promise.all([
        lstat(place, { bigint: true }).catch(() => undefined),
        Promise.all(listParents(path).map(isLink)).then((all) => all.includes(true)),
      ]);
      // A path that leads through a link names a file elsewhere.
      if (info === undefined || throughLink) return void remove.push(path);
      if (info.isSymbolicLink()) return void add.push(path);
      // A directory in place of a file, or a repository whose commit changed.
      if (info.isDirectory()) return void (this.#nested.has(path) ? add : remove).push(path);
      const isReadable =
        info.isFile() &&
        (await access(place, constants.R_OK).then(
          () => true,
          () => false,
        ));
      if (isReadable && info.size <= this.#limits.maxFileBytes) return void add.push(path);
      remove.push(path);
      if (isReadable) large.set(path, `${info.size} ${info.mtimeNs}`);
      else unreadable.push(path);
    });
    return { add, remove, large, unreadable: unreadable.sort() };
  }

  async #feed(
    options: string[],
    paths: readonly RawPath[],
    call: { index: string; timeoutMs: number },
  ): Promise<void> {
    const args = ["update-index", ...options, "-z", "--stdin"];
    await this.#dir.expect({ args, input: await joinLongFields(paths), ...call });
  }
}
