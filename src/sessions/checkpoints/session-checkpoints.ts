// The checkpoints of one session: takes them one after another, bounds how long a message waits for one, and keeps the list.
import { waitAtMost } from "../../base/child.ts";
import { toMessage } from "../../base/coded-error.ts";
import { Serial } from "../../base/serial.ts";
import { defined } from "../../base/values.ts";
import {
  type FoundGit,
  findRepository,
  openWorkTree,
  type RecordedBase,
  type Snapshot,
  type WorkTree,
} from "../../git/index.ts";
import type { TurnFiles } from "./overlaps.ts";
import { appendRecord, type CheckpointRecord, readRecords } from "./records.ts";
import type { SharedSnapshots } from "./shared-snapshots.ts";
import { isKnown, type KnownRecord, keepSameRoot, numberTurn } from "./spans.ts";

type Env = Readonly<Record<string, string | undefined>>;

export interface CheckpointSettings {
  /** How long a message waits for the checkpoint before its turn. */
  timeoutMs: number;
  /** Larger files are not kept. */
  maxFileBytes: number;
}

export interface SessionCheckpointsParts extends CheckpointSettings {
  /** The directory of this session's checkpoints; created with the first one. */
  place: string;
  /** Never part of a work tree. */
  hidden: readonly string[];
  env: Env;
  findGit(): Promise<FoundGit>;
  /** Of all sessions. */
  snapshots: SharedSnapshots;
  recordBase(tree: WorkTree): Promise<RecordedBase>;
  /** A checkpoint was skipped. */
  skipped(turn_id: string, kind: "start" | "end", reason: string): void;
}

export interface ChangeState {
  tree: WorkTree;
  records: readonly CheckpointRecord[];
  /** The work tree as it is. */
  now: KnownRecord;
  /** Records a checkpoint. */
  add(mark: Mark): Promise<CheckpointRecord>;
}

type Mark = Pick<CheckpointRecord, "kind"> &
  Partial<Pick<CheckpointRecord, "turn_id" | "undone" | "rewound" | "base">>;

/** Longer than a message waits: the first look at a large repository makes the later ones quick. */
const CALL_LIMIT_MS = 60_000;
/** After this many attempts in a row that took too long, messages no longer wait for one. */
const MAX_LATE = 3;
/** How many of the files that no checkpoint has are listed. */
const MAX_LISTED = 1000;

export class SessionCheckpoints {
  readonly #parts: SessionCheckpointsParts;
  readonly #serial = new Serial();
  #records: CheckpointRecord[] | undefined;
  #tree: WorkTree | undefined;
  #cwd: string | undefined;
  /** Why there are no checkpoints; known after the first attempt. */
  #reason: string | undefined;
  /** Attempts that no longer count when they end, because the turn has started without them. */
  #round = 0;
  /** Attempts in a row that took too long. */
  #late = 0;
  #busy = 0;
  #undoing: Promise<unknown> | undefined;

  constructor(parts: SessionCheckpointsParts) {
    this.#parts = parts;
  }

  get isBusy(): boolean {
    return this.#busy > 0;
  }

  get reason(): string | undefined {
    return this.#reason;
  }

  /** The work tree of the newest checkpoint, opened to read what it has. Undefined if there is none, with `reason`. */
  open(cwd: string | undefined): Promise<WorkTree | undefined> {
    return this.#run(() => this.#open(cwd));
  }

  /** Resolves when the message may be sent; undefined if there is nothing to wait for. */
  start(cwd: string | undefined, turn_id: string): Promise<void> | undefined {
    return this.isWanted(cwd) ? this.#start(cwd, turn_id) : undefined;
  }

  isWanted(cwd: string | undefined): boolean {
    return this.#reason === undefined || cwd !== this.#cwd || this.#busy > 0;
  }

  async #start(cwd: string | undefined, turn_id: string): Promise<void> {
    await this.#undoing?.catch(() => undefined);
    const attempt = this.#mark(cwd, { kind: "start", turn_id }).then(() => true);
    if ((await waitAtMost(this.#parts.timeoutMs, attempt)) === true) return;
    // What is still running sees what this turn does.
    this.#round += 1;
  }

  /** Never rejects. */
  async end(cwd: string | undefined, turn_id: string): Promise<void> {
    await this.#mark(cwd, { kind: "end", turn_id });
  }

  /** The files that a finished turn changed; undefined if its checkpoints do not say. */
  readTurnFiles(turn_id: string): Promise<Omit<TurnFiles, "session_id"> | undefined> {
    return this.#run(async () => {
      const tree = this.#tree;
      const records = (await this.#read()).filter((record) => record.turn_id === turn_id && isKnown(record));
      const [start, end] = [
        records.find(({ kind }) => kind === "start"),
        records.find(({ kind }) => kind === "end"),
      ];
      if (tree === undefined || start?.tree === undefined || end?.tree === undefined) return undefined;
      if (start.root !== tree.root || end.root !== tree.root) return undefined;
      const changes = await tree.compare([start.tree, end.tree], { findsRenames: false });
      return { root: tree.root, commonDir: tree.commonDir, paths: changes.map(({ path }) => path) };
    });
  }

  /** All checkpoints of the current directory, oldest first. */
  async list(): Promise<readonly CheckpointRecord[]> {
    return this.#run(async () => keepSameRoot(await this.#read()));
  }

  /** The work tree as it is, without a checkpoint; undefined if that takes too long. Throws `git_failed`. */
  async peek(cwd: string | undefined): Promise<KnownRecord | undefined> {
    const looked = this.#run(async () => (await this.#open(cwd)) && this.#snapshot());
    return waitAtMost(this.#parts.timeoutMs, looked);
  }

  /** Runs `work` while no turn starts. */
  change<T>(work: (state: ChangeState) => Promise<T>, cwd: string | undefined): Promise<T | undefined> {
    const done = this.#run(async () => {
      const tree = await this.#open(cwd);
      if (tree === undefined) return undefined;
      const records = keepSameRoot(await this.#read());
      const add = async (mark: Mark) => this.#append(tree, mark, await this.#take());
      return work({ tree, records, now: await this.#snapshot(), add });
    });
    this.#undoing = done;
    return done.finally(() => {
      if (this.#undoing === done) this.#undoing = undefined;
    });
  }

  /** Nothing is running and nothing more will. */
  idle(): Promise<void> {
    return this.#serial.idle();
  }

  async #mark(
    cwd: string | undefined,
    mark: Mark & { kind: "start" | "end"; turn_id: string },
  ): Promise<void> {
    const round = this.#round;
    await this.#run(async () => {
      const records = await this.#read();
      // An agent's own turn, or one that an earlier daemon began.
      if (records.some(({ turn_id, kind }) => turn_id === mark.turn_id && kind === mark.kind)) return;
      const tree = await this.#open(cwd);
      if (tree === undefined) return;
      const { timeoutMs } = this.#parts;
      try {
        const isFirst = keepSameRoot(records).at(-1)?.root !== tree.root;
        const [taken, base] = await Promise.all([
          this.#take(),
          isFirst ? this.#parts.recordBase(tree).catch(() => undefined) : undefined,
        ]);
        this.#late = round === this.#round ? 0 : this.#late + 1;
        if (this.#late > 0) throw new Error(`it took longer than ${timeoutMs} ms (checkpoint_timeout_ms)`);
        await this.#append(tree, { ...mark, ...defined({ base }) }, taken);
      } catch (error) {
        const reason = toMessage(error);
        await this.#append(tree, mark, reason).catch(() => undefined); // the disk is full
        this.#parts.skipped(mark.turn_id, mark.kind, reason);
      }
    }).catch((error: unknown) => this.#parts.skipped(mark.turn_id, mark.kind, toMessage(error)));
  }

  async #open(cwd: string | undefined): Promise<WorkTree | undefined> {
    const found = await this.#findRepository(cwd);
    if (found.root === undefined) {
      this.#reason = found.reason;
      return undefined;
    }
    this.#reason = undefined;
    if (this.#tree?.root === found.root) return this.#tree;
    const { place, hidden, env, maxFileBytes } = this.#parts;
    const limits = { maxFileBytes, timeoutMs: CALL_LIMIT_MS };
    const tree = await openWorkTree({ git: found.git, repository: found, place, hidden, env, ...limits });
    const last = (await this.#read()).at(-1);
    if (last?.root === tree.root) tree.recall(last.nested ?? []);
    else await tree.forget();
    this.#tree = tree;
    return tree;
  }

  async #findRepository(cwd: string | undefined) {
    this.#cwd = cwd;
    if (cwd === undefined) return { reason: "the session's directory is not known yet" };
    if (this.#late >= MAX_LATE) {
      return { reason: `checkpoints of this directory took too long ${MAX_LATE} times, so none are taken` };
    }
    const found = await findRepository(cwd);
    if (found.root === undefined) return found;
    const { git, ...rest } = await this.#parts.findGit();
    return git === undefined
      ? { reason: "reason" in rest ? rest.reason : "git was not found" }
      : { ...found, git };
  }

  async #take(): Promise<Snapshot> {
    const tree = this.#tree;
    if (tree === undefined) throw new Error("no work tree is open");
    try {
      return await this.#parts.snapshots.take(tree);
    } catch (error) {
      // Whatever it was, the next attempt does not build on it.
      this.#tree = undefined;
      await tree.forget().catch(() => undefined);
      throw error;
    }
  }

  async #snapshot(): Promise<KnownRecord> {
    const taken = await this.#take();
    const root = this.#tree?.root ?? "";
    return { n: 0, kind: "undo_before", at_ms: Date.now(), root, ...toFields(taken), tree: taken.tree };
  }

  async #append(tree: WorkTree, mark: Mark, outcome: Snapshot | string): Promise<CheckpointRecord> {
    const records = await this.#read();
    const { turn_id } = mark;
    const record: CheckpointRecord = {
      n: (records.at(-1)?.n ?? 0) + 1,
      ...mark,
      at_ms: Date.now(),
      root: tree.root,
      ...(turn_id === undefined ? {} : { turn: numberTurn(keepSameRoot(records), turn_id) }),
      ...(typeof outcome === "string" ? { skipped: outcome } : toFields(outcome)),
    };
    await appendRecord(this.#parts.place, record);
    records.push(record);
    return record;
  }

  async #read(): Promise<CheckpointRecord[]> {
    this.#records ??= await readRecords(this.#parts.place);
    return this.#records;
  }

  async #run<T>(work: () => Promise<T>): Promise<T> {
    this.#busy += 1;
    try {
      return await this.#serial.run(work);
    } finally {
      this.#busy -= 1;
    }
  }
}

function toFields({ tree, large, nested, unreadable }: Snapshot): Partial<CheckpointRecord> {
  return {
    tree,
    ...(large.size === 0 ? {} : { large: Object.fromEntries([...large].slice(0, MAX_LISTED)) }),
    ...(nested.length === 0 ? {} : { nested: nested.slice(0, MAX_LISTED) }),
    ...(unreadable.length === 0 ? {} : { unreadable: unreadable.slice(0, MAX_LISTED) }),
  };
}
