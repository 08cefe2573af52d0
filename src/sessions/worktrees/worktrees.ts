// Worktrees that sessions are started in: makes one for a spawn, sets it up before its first agent starts, lists them, and
// removes those that nobody uses and that have nothing to lose.
import { realpath } from "node:fs/promises";
import { join, relative } from "node:path";
import { CodedError, toMessage } from "../../base/coded-error.ts";
import { KeyedLock } from "../../base/keyed-lock.ts";
import type { Log } from "../../base/log.ts";
import { defined } from "../../base/values.ts";
import {
  addWorktree,
  carryChanges,
  discardWorktree,
  type FoundGit,
  findRepository,
  type Git,
  inspectWorktree,
  type Repository,
  removeWorktree,
  requireRepository,
} from "../../git/index.ts";
import type { SessionWorktree, WorktreeView, WorktreeWish } from "../../protocol/worktrees.ts";
import {
  findFolder,
  listPlaces,
  makeFolder,
  makeName,
  readRecord,
  removeRecord,
  type WorktreeRecord,
  writeRecord,
} from "./place.ts";
import { runSetUp } from "./set-up.ts";

export interface WorktreesParts {
  /** All worktrees are below it. */
  root: string;
  findGit(): Promise<FoundGit>;
  /** Set-up commands by the path of their repository. */
  setUp: ReadonlyMap<string, string>;
  /** Of set-up commands: what agents get. */
  env: Readonly<Record<string, string | undefined>>;
  /** Working directories of sessions whose agent runs. */
  listBusy(): Iterable<string>;
  log: Log;
}

export interface MadeWorktree {
  /** The directory in it that corresponds to the one it was asked for. */
  cwd: string;
  worktree: SessionWorktree;
}

export class Worktrees {
  readonly #parts: WorktreesParts;
  /** git locks a repository itself, but then fails instead of waiting. */
  readonly #locks = new KeyedLock();

  constructor(parts: WorktreesParts) {
    this.#parts = parts;
  }

  /** Throws `worktree_refused`, `git_failed`. */
  async make(
    wish: WorktreeWish,
    session: { session_id: string; cwd: string; label: string },
  ): Promise<MadeWorktree> {
    const git = await this.#requireGit();
    const source = await findRepository(session.cwd);
    if (source.root === undefined) throw new CodedError("worktree_refused", source.reason);
    const name = wish.name ?? makeName(session.label);
    const folder = findFolder(this.#parts.root, source);
    await makeFolder(folder);
    const branch = `blemees/${name}`;
    const path = join(folder, name);
    return this.#withLock(source, async () => {
      const added = await addWorktree(git, source, { path, branch, base: wish.base });
      try {
        if (wish.with_changes === true) await this.#carry(git, source, added);
        const record: WorktreeRecord = {
          ...{ name, path: added.root, branch, repository: source.root },
          ...{ session_id: session.session_id, created_at_ms: Date.now() },
          ...(this.#findSetUp(source) === undefined ? {} : { setup: "owed" as const }),
        };
        await writeRecord(record);
      } catch (error) {
        await this.#discard(git, source, { path, branch });
        throw error;
      }
      this.#parts.log.info("worktree.added", { session_id: session.session_id, path: added.root, branch });
      const cwd = join(added.root, relative(source.root, await realpath(session.cwd)));
      return { cwd, worktree: { name, path: added.root, branch, repository: source.root } };
    });
  }

  /** Of a session that was not spawned after all. */
  async discard({ path, branch, repository }: SessionWorktree): Promise<void> {
    const source = await findRepository(repository);
    const { git } = await this.#parts.findGit();
    if (source.root === undefined || git === undefined) return;
    await this.#withLock(source, () => this.#discard(git, source, { path, branch }));
  }

  /** Before an agent of its session starts: runs the set-up command unless it has succeeded before. */
  async prepare({ path, repository }: SessionWorktree): Promise<void> {
    const record = await readRecord(path);
    if (record?.setup !== "owed") return;
    const command = this.#parts.setUp.get(repository);
    if (command === undefined) return;
    const { log, env } = this.#parts;
    log.info("worktree.set_up", { session_id: record.session_id, path, command });
    await runSetUp({ command, cwd: path, env });
    await writeRecord({ ...record, setup: "done" });
  }

  async list(): Promise<WorktreeView[]> {
    const { git } = await this.#parts.findGit();
    const views: WorktreeView[] = [];
    // One at a time: each starts several processes.
    for (const path of await listPlaces(this.#parts.root)) views.push(await this.#view(path, git));
    return views;
  }

  /** By its name, or by its path if several repositories have one of that name. Throws `worktree_refused`, `worktree_unknown`. */
  async remove(nameOrPath: string): Promise<Pick<SessionWorktree, "name" | "path">> {
    const path = await this.#find(nameOrPath);
    if (this.#isInUse(path)) {
      throw new CodedError("worktree_refused", `an agent is running in ${path}; stop its session first`);
    }
    const git = await this.#requireGit();
    const worktree = await requireRepository(path);
    if (!worktree.isLinked || worktree.root !== path)
      throw new CodedError("worktree_refused", `${path} is not a worktree; delete it yourself`);
    await this.#withLock(worktree, () => removeWorktree(git, worktree));
    await removeRecord(path);
    this.#parts.log.info("worktree.removed", { path });
    return { name: toName(path), path };
  }

  async #find(nameOrPath: string): Promise<string> {
    const places = await listPlaces(this.#parts.root);
    const found = places.filter((path) => path === nameOrPath || toName(path) === nameOrPath);
    const [path, ...others] = found;
    if (path === undefined) throw new CodedError("worktree_unknown", `there is no worktree "${nameOrPath}"`);
    if (others.length === 0) return path;
    throw new CodedError(
      "worktree_refused",
      `"${nameOrPath}" is the name of ${found.length} worktrees; give the path: ${found.join(", ")}`,
    );
  }

  async #view(path: string, git: Git | undefined): Promise<WorktreeView> {
    const record = await readRecord(path);
    const in_use = this.#isInUse(path);
    const about = record && {
      ...{ session_id: record.session_id, created_at_ms: record.created_at_ms },
      ...{ branch: record.branch, repository: record.repository },
    };
    const view = { name: toName(path), path, ...about, in_use };
    try {
      const worktree = await requireRepository(path);
      if (git === undefined || worktree.root !== path)
        return { ...view, removable: false, fault: git === undefined ? "git is missing" : "not a worktree" };
      const { branch, changed, unmerged } = await inspectWorktree(git, worktree);
      const removable = changed === 0 && unmerged === 0 && !in_use;
      return { ...view, ...defined({ branch }), changed, unmerged, removable };
    } catch (error) {
      return { ...view, removable: false, fault: toMessage(error) };
    }
  }

  async #carry(git: Git, from: Repository, to: Repository): Promise<void> {
    const { left } = await carryChanges(git, from, to);
    if (left.length > 0)
      this.#parts.log.warn("worktree.not_carried", { path: to.root, left: left.slice(0, 20) });
  }

  async #discard(
    git: Git,
    source: Repository,
    { path, branch }: Pick<SessionWorktree, "path" | "branch">,
  ): Promise<void> {
    await discardWorktree(git, source, { path, branch });
    await removeRecord(path);
  }

  #findSetUp(source: Repository): string | undefined {
    return this.#parts.setUp.get(source.root);
  }

  #isInUse(path: string): boolean {
    for (const cwd of this.#parts.listBusy()) {
      if (cwd === path || cwd.startsWith(`${path}/`)) return true;
    }
    return false;
  }

  async #requireGit(): Promise<Git> {
    const { git, ...missing } = await this.#parts.findGit();
    if (git !== undefined) return git;
    throw new CodedError("worktree_refused", "reason" in missing ? missing.reason : "git is missing");
  }

  async #withLock<T>({ commonDir }: Repository, work: () => Promise<T>): Promise<T> {
    const release = await this.#locks.lock(commonDir);
    try {
      return await work();
    } finally {
      release();
    }
  }
}

function toName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
