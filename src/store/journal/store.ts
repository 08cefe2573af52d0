// The store in front of the SQLite thread: an append is one file write in this thread (waking another thread twice takes
// ten times as long); the store thread moves records into the database in large batches, and always before it answers a
// call. See docs/decisions/0006.
import { CodedError, toMessage } from "../../base/coded-error.ts";
import {
  type Args,
  createStore,
  type Op,
  type Result,
  type StoreCall,
  type StoreReply,
  takeValue,
} from "../calls.ts";
import type { SeqMarks } from "../seq-marks.ts";
import type { AppendOrder, AppendOutcome, Store } from "../types.ts";
import { type Content, createOutcome } from "../units.ts";
import type { Journal } from "./journal.ts";
import { KnownSeqs } from "./known-seqs.ts";
import type { JournalEnd } from "./types.ts";

/** The thread with the database. Calls are answered in order. */
export interface FoldingThread {
  readonly refusal: CodedError | undefined;
  ask(call: Omit<StoreCall, "id">): Promise<StoreReply>;
  close(journal?: JournalEnd): Promise<void>;
}

/** Large enough for few transactions, small enough that calls never wait long. */
const FOLD_BYTES = 1024 * 1024;
const FOLD_AFTER_MS = 200;
/** Above this an append waits for the thread: agents slow down instead of filling the disk. */
const SLOW_BYTES = 16 * 1024 * 1024;
/** Above this, while the database accepts nothing, an append fails. */
const FULL_BYTES = 64 * 1024 * 1024;

export interface JournaledOptions {
  marks?: SeqMarks | undefined;
  /** The thread also writes JSONL files: a synced append waits until they have it too. */
  isExported?: boolean;
  /** Called now and then, with the number of bytes that the database has got since the start. */
  onFolded?: ((bytes: number) => void) | undefined;
}

export function createJournaledStore(
  thread: FoldingThread,
  journal: Journal,
  { marks, isExported = false, onFolded }: JournaledOptions = {},
): Store {
  const journaled = new JournaledStore(thread, journal, { marks, onFolded });
  const store = createStore(
    (op, args) => journaled.call(op, args),
    () => journaled.close(),
  );
  return {
    ...store,
    append: isExported ? (order) => journaled.appendExported(order) : (order) => journaled.append(order),
    // Also through the journal, or a row could overtake or outlive the appends around it.
    saveRow: async (row) => {
      const [fault] = await journaled.append({ batches: [], rows: [row], sync: false });
      if (fault !== undefined) throw new CodedError("internal", fault);
    },
  };
}

class JournaledStore {
  readonly #thread: FoldingThread;
  readonly #journal: Journal;
  readonly #marks: SeqMarks | undefined;
  readonly #onFolded: ((bytes: number) => void) | undefined;
  readonly #seqs = new KnownSeqs();
  /** Must settle before the next append or call starts. */
  #tail: Promise<void> | undefined;
  #writtenBytes = 0;
  #foldedBytes = 0;
  #foldFault: string | undefined;
  /** Files before this one are in the database and synced. */
  #foldedNumber: number;
  #folding: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closing: Promise<void> | undefined;

  constructor(thread: FoldingThread, journal: Journal, { marks, onFolded }: JournaledOptions) {
    this.#thread = thread;
    this.#journal = journal;
    this.#marks = marks;
    this.#onFolded = onFolded;
    this.#foldedNumber = journal.number + 1;
  }

  /** The path of every event. If nothing is pending, the write is done when this returns. */
  append(order: AppendOrder): AppendOutcome | Promise<AppendOutcome> {
    if (this.#closing !== undefined) return Promise.reject(createClosedError());
    if (this.#tail !== undefined) return this.#hold(this.#tail.then(() => this.#appendNow(order)));
    const outcome = this.#appendNow(order);
    return outcome instanceof Promise ? this.#hold(outcome) : outcome;
  }

  /** A turn that has ended is in its file when a client sees the result. A failed export does not fail the append. */
  async appendExported(order: AppendOrder): Promise<AppendOutcome> {
    const outcome = await this.append(order);
    if (!order.sync) return outcome;
    const ids = new Set([...order.batches, ...order.rows].map(({ session_id }) => session_id));
    await this.#ask({ op: "export", args: [...ids] }).catch(() => undefined);
    return outcome;
  }

  call<K extends Op>(op: K, args: Args<K>): Promise<Result<K>> {
    if (this.#closing !== undefined) return Promise.reject(createClosedError());
    if (this.#tail === undefined) return this.#callNow(op, args);
    const tail = this.#tail;
    return new Promise((resolve, reject) => {
      void this.#hold(tail.then(() => void this.#callNow(op, args).then(resolve, reject)));
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#tail;
    clearTimeout(this.#timer);
    try {
      await this.#thread.close(this.#journal.end(true));
    } finally {
      this.#journal.release();
      this.#marks?.close();
    }
  }

  #appendNow(order: AppendOrder): AppendOutcome | Promise<AppendOutcome> {
    const { refusal } = this.#thread;
    if (refusal !== undefined) return Promise.reject(refusal);
    if (this.#journal.fault !== undefined) return this.#renew(order, this.#journal.fault);
    if (this.#seqs.listUnknown(order).length > 0) return this.#learn(order);
    const outcome = createOutcome(order);
    const content = this.#seqs.admit(order, outcome);
    const { batches, rows, requests } = content;
    if (batches.length + rows.length + (requests?.length ?? 0) === 0) return outcome;
    let size: number;
    try {
      this.#checkRoom();
      // Field by field: `...content` doubles the time of an append.
      size = this.#journal.write({
        batches,
        rows,
        ...(requests !== undefined && { requests }),
        at_ms: Date.now(),
      });
    } catch (error) {
      this.#seqs.takeBack(content);
      return failRest(outcome, toMessage(error));
    }
    if (order.sync) return this.#sync({ content, outcome, size });
    this.#keep(content, size);
    if (this.#unfoldedBytes > SLOW_BYTES && this.#foldFault === undefined) {
      return (this.#folding ?? Promise.resolve()).then(() => outcome);
    }
    return outcome;
  }

  /** Nothing else is written meanwhile, so a record whose sync fails is the last one and can be removed. */
  async #sync(written: { content: Content; outcome: AppendOutcome; size: number }): Promise<AppendOutcome> {
    try {
      // An older file holds earlier frames, which must be synced first.
      if (this.#foldedNumber < this.#journal.number) await this.#fold();
      await this.#journal.sync();
    } catch (error) {
      this.#journal.drop();
      this.#seqs.takeBack(written.content);
      return failRest(written.outcome, toMessage(error));
    }
    this.#keep(written.content, written.size);
    return written.outcome;
  }

  /** Replaces a file that must not be written again, after moving its valid records into the database. */
  async #renew(order: AppendOrder, fault: string): Promise<AppendOutcome> {
    const reply = await this.#ask({ op: "fold", args: [] }, this.#journal.end(true));
    if (reply.unfolded !== undefined) return failRest(createOutcome(order), `${fault}; ${reply.unfolded}`);
    this.#journal.release();
    return this.#appendNow(order);
  }

  async #learn(order: AppendOrder): Promise<AppendOutcome> {
    this.#seqs.forgetMany();
    for (const session_id of this.#seqs.listUnknown(order)) {
      const row = await this.#callNow("loadRow", [session_id]);
      this.#seqs.learn(session_id, row?.last_seq ?? (await this.#callNow("highestSeq", [session_id])));
    }
    return this.#appendNow(order);
  }

  async #callNow<K extends Op>(op: K, args: Args<K>): Promise<Result<K>> {
    if (op === "delete") this.#forget(args[0] as string);
    return takeValue(await this.#ask({ op, args })) as Result<K>;
  }

  /** Calls the thread, which first moves the journal's current records into the database. */
  async #ask(call: Omit<StoreCall, "id">, journal = this.#journal.end()): Promise<StoreReply> {
    if (journal === undefined) return this.#thread.ask(call);
    const bytes = this.#writtenBytes;
    const reply = await this.#thread.ask({ ...call, journal });
    this.#foldFault = reply.unfolded;
    if (reply.unfolded !== undefined) return reply;
    this.#foldedBytes = Math.max(this.#foldedBytes, bytes);
    this.#foldedNumber = Math.max(this.#foldedNumber, journal.isDone ? journal.n + 1 : journal.n);
    return reply;
  }

  get #unfoldedBytes(): number {
    return this.#writtenBytes - this.#foldedBytes;
  }

  #checkRoom(): void {
    if (this.#unfoldedBytes < FULL_BYTES) return;
    const why = this.#foldFault ?? "the database is too slow";
    throw new Error(`the journal is full: ${FULL_BYTES >> 20} MB are not yet in the database: ${why}`);
  }

  #forget(session_id: string): void {
    this.#seqs.forget(session_id);
    try {
      this.#marks?.forget(session_id);
    } catch {
      // A leftover mark only makes a later session with this id start after it.
    }
  }

  #keep({ batches }: Content, size: number): void {
    this.#journal.keep(size);
    try {
      for (const { session_id, last_seq } of batches) this.#marks?.raise(session_id, last_seq);
    } catch {
      // The frames are stored; the mark matters only if they are lost, and the next append retries.
    }
    this.#writtenBytes += size;
    this.#schedule();
  }

  #schedule(): void {
    if (this.#folding !== undefined || this.#closing !== undefined) return;
    if (this.#unfoldedBytes > FOLD_BYTES && this.#foldFault === undefined) {
      this.#startFolding();
      return;
    }
    this.#foldLater();
  }

  #foldLater(): void {
    this.#timer ??= setTimeout(() => this.#startFolding(), FOLD_AFTER_MS).unref();
  }

  #startFolding(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const done = () => {
      this.#folding = undefined;
      if (this.#foldFault === undefined) this.#onFolded?.(this.#foldedBytes);
      if (this.#unfoldedBytes > 0) this.#schedule();
    };
    const retry = () => {
      this.#folding = undefined;
      // A dead thread is reported by the next append or call.
      if (this.#thread.refusal === undefined && this.#closing === undefined) this.#foldLater();
    };
    this.#folding = this.#ask({ op: "fold", args: [] }).then(done, retry);
  }

  async #fold(): Promise<void> {
    const { unfolded } = await this.#ask({ op: "fold", args: [] });
    if (unfolded !== undefined) throw new Error(unfolded);
  }

  /** Makes later appends and calls wait for this. */
  #hold<T>(work: Promise<T>): Promise<T> {
    const release = () => {
      if (this.#tail === tail) this.#tail = undefined;
    };
    const tail = work.then(release, release);
    this.#tail = tail;
    return work;
  }
}

/** Fails everything that was not already rejected. */
function failRest(outcome: AppendOutcome, reason: string): AppendOutcome {
  return outcome.map((fault) => fault ?? reason);
}

function createClosedError(): CodedError {
  return new CodedError("internal", "the store is closed");
}
