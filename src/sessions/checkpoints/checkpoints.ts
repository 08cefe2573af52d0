// Checkpoints of all sessions: taken at the start and end of every turn, shown as changes, used to undo turns, and removed
// with their session. Without git, outside a repository and if turned off, sessions work as ever.
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { CodedError, toMessage } from "../../base/coded-error.ts";
import type { Log } from "../../base/log.ts";
import { defined } from "../../base/values.ts";
import { type FoundGit, parseShownPath, type RecordedBase, type WorkTree } from "../../git/index.ts";
import type { ChangesReply, FileChangesReply, UndoBody, UndoReply } from "../../protocol/changes.ts";
import type { NoticeEvent } from "../../protocol/events.ts";
import { toNotice } from "../../protocol/notices.ts";
import type { SessionRow } from "../../protocol/session.ts";
import { Comparisons } from "./comparisons.ts";
import type { TurnFiles } from "./overlaps.ts";
import { type CheckpointRecord, RECORDS_FILE } from "./records.ts";
import { performRewind, planRewind, type Rewinder } from "./rewind.ts";
import { type CheckpointSettings, SessionCheckpoints } from "./session-checkpoints.ts";
import { SharedSnapshots } from "./shared-snapshots.ts";
import {
  type ChangesFacts,
  type ChangesOrder,
  showChanges,
  showFileChanges,
  toNoChanges,
} from "./show-changes.ts";
import { performUndo, preparePlan } from "./undo.ts";

export interface CheckpointParts extends CheckpointSettings {
  /** Has one directory per session. */
  root: string;
  /** Directories of ours that are never part of a work tree. */
  hidden: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  findGit(): Promise<FoundGit>;
  log: Log;
  /** A checkpoint was skipped for a new reason. */
  report(session_id: string, skipped: SkippedCheckpoint): void;
  /** A turn has changed these files. */
  changed?(files: TurnFiles): void;
}

export interface SkippedCheckpoint {
  turn_id: string;
  kind: "start" | "end";
  reason: string;
}

export function toSkippedNotice(backend: string, data: SkippedCheckpoint): NoticeEvent {
  const edge = data.kind === "start" ? "before" : "after";
  const text = `the files ${edge} this turn were not recorded: ${data.reason}`;
  return toNotice(backend, "checkpoint_skipped", { level: "warn", text, data: { ...data } });
}

type Place = Pick<SessionRow, "session_id" | "cwd">;

/** Idle sessions beyond this number are read again when they are needed. */
const MAX_KEPT = 200;

export class Checkpoints {
  readonly #parts: CheckpointParts;
  readonly #sessions = new Map<string, SessionCheckpoints>();
  readonly #reported = new Map<string, string>();
  readonly #snapshots = new SharedSnapshots();
  /** By root, while they are being read: the sessions that start at the same moment have the same. */
  readonly #bases = new Map<string, Promise<RecordedBase>>();
  readonly #comparisons = new Comparisons();
  #isClosed = false;

  constructor(parts: CheckpointParts) {
    this.#parts = parts;
  }

  /** Whether the next turn has to wait for a checkpoint, as far as is known. */
  isWanted({ session_id, cwd }: Place): boolean {
    return !this.#isClosed && this.#session(session_id).isWanted(cwd);
  }

  /** Resolves when the turn's message may be sent; undefined: at once. */
  onTurnStart({ session_id, cwd }: Place, turn_id: string): Promise<void> | undefined {
    return this.#isClosed ? undefined : this.#session(session_id).start(cwd, turn_id);
  }

  onTurnEnd({ session_id, cwd }: Place, turn_id: string): void {
    if (!this.#isClosed) void this.#end({ session_id, cwd }, turn_id);
  }

  async #end({ session_id, cwd }: Place, turn_id: string): Promise<void> {
    const session = this.#session(session_id);
    await session.end(cwd, turn_id);
    const files = await session.readTurnFiles(turn_id).catch(() => undefined); // one notice less
    if (files !== undefined && files.paths.length > 0) this.#parts.changed?.({ session_id, ...files });
  }

  /** Throws `change_unknown`, `git_failed`. */
  async changes(row: SessionRow, order: ChangesOrder): Promise<ChangesReply> {
    const facts = await this.#prepare(row);
    if (typeof facts === "string") return toNoChanges(row.session_id, facts);
    return showChanges(facts, order);
  }

  /** Throws `change_unknown`, `git_failed`. */
  async fileChanges(
    row: SessionRow,
    {
      path,
      path_b64,
      ...order
    }: Pick<ChangesOrder, "turn" | "from" | "to"> & { path: string; path_b64?: string },
  ): Promise<FileChangesReply> {
    const facts = await this.#prepare(row);
    if (typeof facts === "string")
      throw new CodedError("change_unknown", `the session has no changes: ${facts}`);
    const raw = parseShownPath({ path, ...(path_b64 === undefined ? {} : { path_b64 }) });
    return showFileChanges(facts, raw, order);
  }

  /** The session must be idle. Throws `change_unknown`, `git_failed`, `undo_failed`. */
  async undo({ session_id, cwd }: Place, order: UndoBody, agent: Rewinder): Promise<UndoReply> {
    const session = this.#session(session_id);
    const { log } = this.#parts;
    const done = await session.change(async ({ tree, records, now, add }): Promise<UndoReply> => {
      const plan = await preparePlan({ tree, records, comparisons: this.#comparisons, now }, order);
      const { turn, files, steps } = plan;
      const result = { session_id, turn, files };
      const forgetting = planRewind(plan, records, { order, agent });
      const hasWork = plan.isAllowed && steps.length + forgetting.turns.length > 0;
      if (order.dry_run === true || !hasWork) {
        const is_possible = hasWork && forgetting.turns.length > 0 ? true : undefined;
        const conversation = { rewound: false, ...defined({ is_possible, reason: forgetting.reason }) };
        return { ...result, done: false, conversation };
      }
      const { n } = await add({ kind: "undo_before" });
      await performUndo({ tree, plan, kept: cwd === undefined ? [] : [cwd] }, add);
      // While no turn starts.
      const conversation = await performRewind(forgetting, agent);
      const { turn: rewound } = conversation;
      if (rewound !== undefined) await add({ kind: "undo_after", rewound });
      log.info("session.undone", { session_id, turn, files: steps.length, ...defined({ rewound }) });
      return { ...result, done: true, checkpoint: n, conversation };
    }, cwd);
    if (done === undefined)
      throw new CodedError("change_unknown", `the session has no changes: ${session.reason ?? "unknown"}`);
    return done;
  }

  /** The session was deleted. */
  async remove(session_id: string): Promise<void> {
    const session = this.#sessions.get(session_id);
    this.#sessions.delete(session_id);
    this.#reported.delete(session_id);
    await session?.idle();
    await this.#delete(session_id);
  }

  /** Removes what belongs to no session, or had no checkpoint for `maxAgeMs`. `exists`: also of those not in memory. */
  async prune(
    exists: (session_ids: readonly string[]) => Promise<ReadonlySet<string>>,
    maxAgeMs: number,
  ): Promise<number> {
    const found = await readdir(this.#parts.root).catch(() => [] as string[]);
    if (found.length === 0) return 0;
    const known = await exists(found);
    let count = 0;
    for (const session_id of found) {
      const info = await stat(join(this.#parts.root, session_id, RECORDS_FILE)).catch(() => undefined);
      const isOld = info !== undefined && Date.now() - info.mtimeMs > maxAgeMs;
      if (this.#sessions.get(session_id)?.isBusy === true || (known.has(session_id) && !isOld)) continue;
      this.#sessions.delete(session_id);
      await this.#delete(session_id);
      count += 1;
    }
    return count;
  }

  /** Takes no more checkpoints; resolves when those begun are finished. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#sessions.values()].map((session) => session.idle()));
  }

  async #prepare(row: SessionRow): Promise<ChangesFacts | string> {
    const { session_id, cwd } = row;
    const session = this.#session(session_id);
    const tree = await session.open(cwd);
    if (tree === undefined) return session.reason ?? "there are no checkpoints";
    const records: CheckpointRecord[] = [...(await session.list())];
    if (records.length === 0) return "the session has no turn with a checkpoint yet";
    const last = records.at(-1);
    // A running turn: up to now.
    if (last?.kind === "start" && row.turn?.turn_id === last.turn_id) {
      const now = await session.peek(cwd);
      if (now !== undefined)
        records.push({ ...now, kind: "end", ...(last.turn === undefined ? {} : { turn: last.turn }) });
    }
    return { session_id, tree, records, comparisons: this.#comparisons };
  }

  #session(session_id: string): SessionCheckpoints {
    const known = this.#sessions.get(session_id);
    if (known !== undefined) return known;
    for (const [id, one] of this.#sessions) {
      if (this.#sessions.size < MAX_KEPT) break;
      if (!one.isBusy) this.#sessions.delete(id);
    }
    const { root, hidden, env, timeoutMs, maxFileBytes, findGit } = this.#parts;
    const session = new SessionCheckpoints({
      ...{ hidden, env, timeoutMs, maxFileBytes, snapshots: this.#snapshots },
      place: join(root, session_id),
      findGit,
      recordBase: (tree) => this.#recordBase(tree),
      skipped: (turn_id, kind, reason) => this.#report(session_id, { turn_id, kind, reason }),
    });
    this.#sessions.set(session_id, session);
    return session;
  }

  #recordBase(tree: WorkTree): Promise<RecordedBase> {
    const known = this.#bases.get(tree.root);
    if (known !== undefined) return known;
    const reading = tree.recordBase().finally(() => this.#bases.delete(tree.root));
    this.#bases.set(tree.root, reading);
    return reading;
  }

  /** Once per reason: a repository that is too large is so at every turn. */
  #report(session_id: string, data: SkippedCheckpoint): void {
    this.#parts.log.warn("session.checkpoint_skipped", { session_id, ...data });
    if (this.#reported.get(session_id) === data.reason) return;
    this.#reported.set(session_id, data.reason);
    this.#parts.report(session_id, data);
  }

  async #delete(session_id: string): Promise<void> {
    await rm(join(this.#parts.root, session_id), { recursive: true, force: true }).catch((error: unknown) =>
      this.#parts.log.warn("session.checkpoints_left", { session_id, message: toMessage(error) }),
    );
  }
}
