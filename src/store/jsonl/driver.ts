// The JSONL driver: a log and up to three files beside it a session (§5.11, §5.15), for people who want to read their logs with
// other tools. It has no transaction over them: the row is written behind the log, so it never claims what the log
// lacks, and the requests before it (see ledgers.ts).
import { join } from "node:path";
import { messageOf } from "../../base/coded-error.ts";
import type { RequestRow } from "../../protocol/requests.ts";
import type { SessionRow } from "../../protocol/session.ts";
import { defaultRow } from "../default-row.ts";
import { type FileSystem, nodeFileSystem } from "../disk/file-system.ts";
import { syncDirectory, unlinkIfThere } from "../disk/whole.ts";
import { oldestKept } from "../ledger.ts";
import { type SeqMarks, withMark } from "../seq-marks.ts";
import type {
  AppendOrder,
  AppendOutcome,
  Driver,
  DriverOptions,
  LogBatch,
  PruneCounts,
  RequestFilter,
  Retention,
} from "../types.ts";
import { emptyOutcome, markUnit, sessionOf, toUnits, type Unit } from "../units.ts";
import { runningTurn } from "./late-frames.ts";
import { Ledgers } from "./ledgers.ts";
import { LogFile } from "./log-file.ts";
import { LogFiles } from "./log-files.ts";
import { logOwner, logPath, ownFiles, sidecarOwner } from "./paths.ts";
import { peekLog } from "./peek.ts";
import { frontWithout, mayExceed, newFront } from "./retention.ts";
import { Sidecars } from "./sidecar.ts";

const PIECE_BYTES = 1024 * 1024;

export function openJsonlDriver(
  dir: string,
  options: DriverOptions,
  fs: FileSystem = nodeFileSystem,
): Driver {
  fs.mkdirSync(dir, { recursive: true, mode: 0o700 });
  return new JsonlDriver(dir, options, fs);
}

class JsonlDriver implements Driver {
  readonly #dir: string;
  readonly #fs: FileSystem;
  readonly #now: () => number;
  readonly #marks: SeqMarks | undefined;
  readonly #sidecars: Sidecars;
  readonly #logs: LogFiles;
  readonly #ledgers: Ledgers;

  constructor(dir: string, options: DriverOptions, fs: FileSystem) {
    this.#dir = dir;
    this.#fs = fs;
    this.#now = options.now;
    this.#marks = options.marks;
    this.#sidecars = new Sidecars({ ...options, fs, dir });
    this.#logs = new LogFiles((session_id) => {
      const rowSeq = () => this.#sidecars.read(session_id)?.last_seq ?? 0;
      const markSeq = () => this.#markOf(session_id);
      const path = logPath(dir, session_id);
      return new LogFile({ ...options, fs, dir, session_id, rowSeq, markSeq, path });
    });
    const lastSeq = (session_id: string) => {
      return Math.max(
        this.#endOf(session_id) ?? this.#logs.get(session_id).lastSeq(),
        this.#markOf(session_id),
      );
    };
    const flushLog = (session_id: string) => this.#logs.get(session_id).flush();
    const readLog = (session_id: string) => this.#pieces(session_id);
    this.#ledgers = new Ledgers({ ...options, fs, dir, lastSeq, flushLog, readLog });
  }

  append(order: AppendOrder): AppendOutcome {
    const outcome = emptyOutcome(order);
    for (const unit of toUnits(order)) {
      try {
        this.#store(unit, order.sync);
      } catch (error) {
        markUnit(outcome, unit, messageOf(error));
      }
    }
    return outcome;
  }

  read(session_id: string, after_seq: number, max_bytes: number): LogBatch | undefined {
    return this.#logs.get(session_id).read(after_seq, max_bytes);
  }

  earliest(session_id: string): number | undefined {
    return this.#logs.get(session_id).frames?.first_seq;
  }

  loadRow(session_id: string): SessionRow | undefined {
    const { frames } = this.#logs.get(session_id);
    const row = this.#sidecars.read(session_id);
    const mark = this.#markOf(session_id);
    if (frames === undefined) return row === undefined ? undefined : withMark(row, undefined, mark);
    const { last_seq } = frames;
    const known =
      row === undefined ? defaultRow({ session_id, last_seq }, this.#now()) : { ...row, last_seq };
    return withMark(known, last_seq, mark);
  }

  highestSeq(session_id: string): number {
    return this.#logs.get(session_id).lastSeq();
  }

  rows(): SessionRow[] {
    const rows: SessionRow[] = [];
    for (const name of this.#fs.readdirSync(this.#dir)) {
      const session_id = sidecarOwner(name);
      const row = session_id === undefined ? undefined : this.#sidecars.read(session_id);
      if (row !== undefined) rows.push(this.#caughtUp(row));
    }
    return rows.sort((a, b) => b.last_active_at_ms - a.last_active_at_ms);
  }

  saveRow(row: SessionRow): void {
    this.#sidecars.write(row);
  }

  requests(filter: RequestFilter): RequestRow[] {
    return this.#ledgers.find(filter);
  }

  request(session_id: string, request_id: string): RequestRow | undefined {
    return this.#ledgers.load(session_id, request_id);
  }

  /** Removes the session's own files, those put aside too, and nothing else. */
  delete(session_id: string): void {
    const isOurs = ownFiles(session_id);
    const names = this.#fs.readdirSync(this.#dir).filter(isOurs);
    this.#logs.forget(session_id);
    this.#ledgers.forget(session_id);
    this.#marks?.forget(session_id);
    for (const name of names) unlinkIfThere(this.#fs, join(this.#dir, name));
    if (names.length > 0) syncDirectory(this.#fs, this.#dir);
  }

  prune(limits: Retention, nowMs: number): PruneCounts {
    const kept = oldestKept(limits, nowMs);
    if (kept !== undefined) this.#ledgers.prune(kept);
    const counts: PruneCounts = { sessions: 0, events: 0, bytes: 0, over_total: 0 };
    for (const name of this.#fs.readdirSync(this.#dir)) {
      const session_id = logOwner(name);
      const peek = session_id === undefined ? undefined : peekLog(this.#fs, join(this.#dir, name));
      if (session_id === undefined || peek === undefined || !mayExceed(peek, limits, nowMs)) continue;
      const file = this.#logs.get(session_id);
      const front = newFront(file, limits, nowMs);
      if (front === undefined) continue;
      counts.sessions += 1;
      counts.events += front.seq - (file.frames?.first_seq ?? front.seq);
      counts.bytes += front.offset;
      file.cutFront(front);
    }
    if (limits.maxTotalBytes > 0) this.#keepTotal(limits.maxTotalBytes, counts);
    return counts;
  }

  /** Takes from the logs that were written to longest ago until the rest fits. */
  #keepTotal(maxBytes: number, counts: PruneCounts): void {
    const logs = this.#fs.readdirSync(this.#dir).flatMap((name) => {
      const session_id = logOwner(name);
      const peek = session_id === undefined ? undefined : peekLog(this.#fs, join(this.#dir, name));
      return session_id === undefined || peek === undefined ? [] : [{ ...peek, session_id }];
    });
    let excess = logs.reduce((sum, { size }) => sum + size, 0) - maxBytes;
    for (const { session_id } of logs.sort((a, b) => a.mtimeMs - b.mtimeMs)) {
      if (excess <= 0) return;
      if (this.#isUnderWay(session_id)) continue;
      const file = this.#logs.get(session_id);
      const front = frontWithout(file, excess);
      if (front === undefined) continue;
      const events = front.seq - (file.frames?.first_seq ?? front.seq);
      counts.sessions += 1;
      counts.events += events;
      counts.over_total += events;
      counts.bytes += front.offset;
      excess -= front.offset;
      file.cutFront(front);
    }
  }

  /** A turn runs or a request is open: frames carry no time, so all of them stay. */
  #isUnderWay(session_id: string): boolean {
    if (this.#sidecars.read(session_id)?.turn !== undefined) return true;
    return this.#ledgers.find({ session_id, open: true, limit: 1 }).length > 0;
  }

  close(): void {
    this.#marks?.close();
    this.#logs.close();
  }

  #store(unit: Unit, sync: boolean): void {
    const { batch, row } = unit;
    const file = batch === undefined ? undefined : this.#logs.get(batch.value.session_id);
    if (batch !== undefined) this.#ledgers.mend(batch.value.session_id);
    if (unit.requests !== undefined) this.#saveRequests(unit, file);
    if (batch !== undefined) file?.append(batch.value, sync);
    try {
      if (row !== undefined) this.#sidecars.write(row.value);
    } catch (error) {
      file?.revert();
      throw error;
    }
    if (unit.requests !== undefined) this.#ledgers.keep(sessionOf(unit));
    if (batch !== undefined) this.#raise(batch.value);
  }

  #raise({ session_id, last_seq }: LogBatch): void {
    try {
      this.#marks?.raise(session_id, last_seq);
    } catch {
      // The frames are stored; the mark matters only if they get lost, and the next append tries again.
    }
  }

  #markOf(session_id: string): number {
    return this.#marks?.of(session_id) ?? 0;
  }

  #saveRequests(unit: Unit, file: LogFile | undefined): void {
    const { batch, requests = [] } = unit;
    // A batch that is refused later, with a seq that the log has, would leave rows that count.
    if (batch !== undefined) file?.check(batch.value);
    const rows = requests.map(({ value }) => value);
    this.#ledgers.save(sessionOf(unit), rows, batch?.value.last_seq);
  }

  /** The whole log, in pieces of whole lines. */
  *#pieces(session_id: string): Generator<Uint8Array> {
    for (let after = 0; ; ) {
      const part = this.read(session_id, after, PIECE_BYTES);
      if (part === undefined) return;
      yield part.bytes;
      after = part.last_seq;
    }
  }

  /** A row that was not written with the last frames learns from them which turn runs. */
  #caughtUp(row: SessionRow): SessionRow {
    // The whole log of every session is not scanned for a list; its last frame tells enough.
    const logEnd = this.#endOf(row.session_id);
    const mark = this.#markOf(row.session_id);
    const last_seq = logEnd ?? row.last_seq;
    if (last_seq <= row.last_seq) return withMark({ ...row, last_seq }, logEnd, mark);
    const { turn: _turn, ...rest } = row;
    const turn = runningTurn(this.#fs, logPath(this.#dir, row.session_id), row);
    return withMark({ ...rest, last_seq, ...(turn === undefined ? {} : { turn }) }, logEnd, mark);
  }

  /** What the log ends with. One in use knows it better than the disk, which may still hold what was refused. */
  #endOf(session_id: string): number | undefined {
    const file = this.#logs.peek(session_id);
    return file === undefined
      ? peekLog(this.#fs, logPath(this.#dir, session_id))?.last_seq
      : file.frames?.last_seq;
  }
}
