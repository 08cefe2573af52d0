// Writes each session as `<id>.jsonl` (its frames as sent) and `<id>.usage.json` (its row), following the database. The
// files can always be written again from there, so a failure only delays them: it is reported and retried. Runs in the
// store thread; keeps no frames in memory. See docs/decisions/0020.
import { join } from "node:path";
import { toMessage } from "../../base/coded-error.ts";
import { formatTimestamp } from "../../base/timestamp.ts";
import type { FileSystem } from "../disk/file-system.ts";
import { setAside } from "../disk/torn.ts";
import {
  openIfThere,
  readWhole,
  replaceFile,
  syncDirectory,
  unlinkIfThere,
  writeAll,
} from "../disk/whole.ts";
import { EMPTY, type Exports, type Place, REMOVED } from "../sqlite/exports.ts";
import type { Driver, DriverOptions } from "../types.ts";
import { logPath, matchFiles, toSidecarPath } from "./paths.ts";
import { readFirstFrame } from "./scan.ts";

export interface ExportOptions extends DriverOptions {
  fs: FileSystem;
  dir: string;
  source: ExportSource;
  exports: Exports;
  /** Sessions whose import failed: their files may hold what the database lacks, and stay as they are. */
  skip: Iterable<string>;
}

/** The part of the database that the files are written from. */
export interface ExportSource extends Pick<Driver, "read" | "earliest"> {
  /** The session's row as stored. */
  rowText(session_id: string): string | undefined;
}

const PIECE_BYTES = 1024 * 1024;
/** One pass writes about this much, or looks at this many sessions; then calls are answered. */
const PASS_BYTES = 4 * PIECE_BYTES;
const PASS_SESSIONS = 32;
/** Places are recorded at turn ends, and after this much. */
const RECORD_BYTES = 8 * 1024 * 1024;
const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;
const CLOSE_LIMIT_MS = 5_000;

export class JsonlExport {
  readonly #options: ExportOptions;
  /** Sessions with something new. */
  readonly #changed = new Set<string>();
  /** Sessions whose files have not been checked since the start or the last prune. */
  #unchecked: string[] = [];
  readonly #failed = new Set<string>();
  readonly #skipped: Set<string>;
  /** Places that files have reached but that are not recorded, because the files are not synced. */
  readonly #ahead = new Map<string, Place>();
  #retryMs = FIRST_RETRY_MS;
  #nextPass: NodeJS.Immediate | undefined;
  #nextRetry: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: ExportOptions) {
    this.#options = options;
    this.#skipped = new Set(options.skip);
    this.checkAll();
  }

  add(session_id: string): void {
    if (this.#failed.has(session_id)) return;
    this.#changed.add(session_id);
    this.#schedule();
  }

  /** Compares the files of all sessions with the database, in the background. */
  checkAll(): void {
    this.#unchecked = this.#options.exports.sessions();
    this.#schedule();
  }

  /** Writes and syncs these sessions before it returns, also those that failed before. Does not throw. */
  flush(session_ids: Iterable<string>): void {
    for (const session_id of session_ids) this.#tryUpdate(session_id, Number.POSITIVE_INFINITY, true);
  }

  /** Finishes what it can in a few seconds; the next start does the rest. */
  close(): void {
    this.#isClosed = true;
    clearImmediate(this.#nextPass);
    clearTimeout(this.#nextRetry);
    const untilMs = Date.now() + CLOSE_LIMIT_MS;
    const left = [...this.#changed, ...this.#ahead.keys(), ...this.#failed, ...this.#unchecked];
    for (const session_id of new Set(left)) {
      if (Date.now() > untilMs) return;
      this.#tryUpdate(session_id, Number.POSITIVE_INFINITY, true);
    }
  }

  #schedule(): void {
    if (this.#isClosed) return;
    if (this.#changed.size + this.#unchecked.length > 0) this.#nextPass ??= setImmediate(() => this.#pass());
    if (this.#failed.size > 0) this.#nextRetry ??= setTimeout(() => this.#retry(), this.#retryMs).unref();
  }

  #pass(): void {
    this.#nextPass = undefined;
    let bytes = 0;
    for (let count = 0; count < PASS_SESSIONS && bytes < PASS_BYTES; count += 1) {
      const [session_id = this.#unchecked.pop()] = this.#changed;
      if (session_id === undefined) break;
      bytes += this.#tryUpdate(session_id, PASS_BYTES - bytes, false);
    }
    this.#schedule();
  }

  #retry(): void {
    this.#nextRetry = undefined;
    this.#retryMs = Math.min(this.#retryMs * 2, MAX_RETRY_MS);
    for (const session_id of this.#failed) this.#changed.add(session_id);
    this.#schedule();
  }

  /** Brings a session's files up to date; returns how many bytes of its log were written. */
  #tryUpdate(session_id: string, maxBytes: number, sync: boolean): number {
    const { onRecovery, dir } = this.#options;
    try {
      const written = this.#update(session_id, maxBytes, sync);
      if (written < maxBytes) this.#changed.delete(session_id);
      else this.#changed.add(session_id);
      if (this.#failed.delete(session_id) && this.#failed.size === 0) {
        this.#retryMs = FIRST_RETRY_MS;
        const message = `the JSONL files in ${dir} are complete again`;
        onRecovery({ event: "export_resumed", kept_seq: 0, cut_bytes: 0, message });
      }
      return written;
    } catch (error) {
      this.#changed.delete(session_id);
      const isFirst = this.#failed.size === 0;
      this.#failed.add(session_id);
      this.#schedule();
      const message = `cannot write the JSONL files in ${dir}, will retry: ${toMessage(error)}`;
      if (isFirst) onRecovery({ event: "export_failed", session_id, kept_seq: 0, cut_bytes: 0, message });
      return 0;
    }
  }

  #update(session_id: string, maxBytes: number, sync: boolean): number {
    const { source, exports } = this.#options;
    let recorded = exports.load(session_id);
    if (recorded?.bytes === REMOVED) {
      this.#remove(session_id);
      recorded = undefined;
    }
    if (this.#skipped.has(session_id)) return 0;
    const rowText = source.rowText(session_id);
    const first_seq = source.earliest(session_id);
    if (rowText === undefined && first_seq === undefined) return 0;
    if (recorded === undefined) this.#begin(session_id);
    let written = 0;
    if (first_seq !== undefined) {
      const order = { first_seq, maxBytes, sync, recordedBytes: recorded?.bytes ?? 0 };
      written = this.#writeLog(session_id, this.#ahead.get(session_id) ?? recorded ?? EMPTY, order);
    }
    if (rowText !== undefined) this.#writeSidecar(session_id, `${rowText}\n`);
    return written;
  }

  /** Recorded before the file is created: afterwards a file without a place is not ours. */
  #begin(session_id: string): void {
    const { fs, dir, now, exports, onRecovery } = this.#options;
    const path = logPath(dir, session_id);
    const fd = openIfThere(fs, path);
    if (fd !== undefined) {
      try {
        this.#checkOwner(fd, session_id);
        const aside = setAside(fs, { fd, path, start: 0 }, `replaced-${formatTimestamp(now())}`);
        const message = "found a file that is not this session's log; kept it under another name";
        onRecovery({ session_id, kept_seq: 0, cut_bytes: fs.fstatSync(fd).size, aside, message });
      } finally {
        fs.closeSync(fd);
      }
      unlinkIfThere(fs, path);
    }
    exports.save(session_id, EMPTY);
  }

  #writeLog(
    session_id: string,
    place: Place,
    order: { first_seq: number; maxBytes: number; sync: boolean; recordedBytes: number },
  ): number {
    const { fs, exports } = this.#options;
    const isPruned = place.bytes > 0 && place.first_seq !== order.first_seq;
    const fd = isPruned ? undefined : this.#open(session_id, place);
    if (fd === undefined) return this.#rewrite(session_id, isPruned);
    const next = { ...place };
    try {
      const written = this.#copy(session_id, fd, { place: next, maxBytes: order.maxBytes });
      const unrecorded = next.bytes - order.recordedBytes;
      if (unrecorded > (order.sync ? 0 : RECORD_BYTES)) {
        fs.fdatasyncSync(fd);
        exports.save(session_id, next);
        this.#ahead.delete(session_id);
      } else if (unrecorded > 0) this.#ahead.set(session_id, next);
      return written;
    } catch (error) {
      // After a failed sync a later one may succeed without the lost bytes: write again from the recorded place.
      this.#ahead.delete(session_id);
      this.#tryTruncate(fd, place.bytes);
      throw error;
    } finally {
      fs.closeSync(fd);
    }
  }

  /** Opens the log file and cuts it to `place`; undefined if the file does not hold what was written. */
  #open(session_id: string, place: Place): number | undefined {
    const { fs, dir } = this.#options;
    const path = logPath(dir, session_id);
    const isNew = place.bytes === 0;
    const fd = openIfThere(fs, path, "r+") ?? (isNew ? fs.openSync(path, "wx+", 0o600) : undefined);
    if (fd === undefined) return undefined;
    try {
      const { size } = fs.fstatSync(fd);
      const isKnown = isNew || this.#ahead.has(session_id);
      const isOurs = size >= place.bytes && (isKnown || this.#beginsAt(fd, place));
      if (isOurs && size > place.bytes) fs.ftruncateSync(fd, place.bytes);
      if (isOurs) return fd;
      this.#checkOwner(fd, session_id);
    } catch (error) {
      fs.closeSync(fd);
      throw error;
    }
    fs.closeSync(fd);
    return undefined;
  }

  #beginsAt(fd: number, { first_seq }: Place): boolean {
    return readFirstFrame(this.#options.fs, fd)?.["seq"] === first_seq;
  }

  /** Writes stored frames after `place`, which moves with them. */
  #copy(session_id: string, fd: number, { place, maxBytes }: { place: Place; maxBytes: number }): number {
    const { fs, source } = this.#options;
    let written = 0;
    while (written < maxBytes) {
      const part = source.read(session_id, place.last_seq, PIECE_BYTES);
      if (part === undefined) break;
      writeAll(fs, fd, part.bytes, place.bytes);
      if (place.bytes === 0) place.first_seq = part.first_seq;
      place.last_seq = part.last_seq;
      place.bytes += part.bytes.length;
      written += part.bytes.length;
    }
    return written;
  }

  /** Replaces the file atomically: its front was pruned, or somebody changed it. */
  #rewrite(session_id: string, isPruned: boolean): number {
    const { fs, dir, exports, onRecovery } = this.#options;
    const place = { ...EMPTY };
    const path = logPath(dir, session_id);
    replaceFile(fs, path, (fd) => this.#copy(session_id, fd, { place, maxBytes: Number.POSITIVE_INFINITY }));
    exports.save(session_id, place);
    this.#ahead.delete(session_id);
    const message = `${path} had been changed or removed; it was written again from the database`;
    if (!isPruned) onRecovery({ session_id, kept_seq: place.last_seq, cut_bytes: 0, message });
    return place.bytes;
  }

  #writeSidecar(session_id: string, text: string): void {
    const { fs, dir } = this.#options;
    const path = toSidecarPath(dir, session_id);
    const bytes = Buffer.from(text);
    if (readWhole(fs, path)?.bytes.equals(bytes) === true) return;
    replaceFile(fs, path, (temp) => writeAll(fs, temp, bytes, 0));
  }

  /** On a file system that ignores case two ids share a file; the other session's log is not ours to replace. */
  #checkOwner(fd: number, session_id: string): void {
    const found = readFirstFrame(this.#options.fs, fd)?.["session_id"];
    if (typeof found !== "string" || found === session_id) return;
    if (found.toLowerCase() !== session_id.toLowerCase()) return;
    throw new Error(
      `the file of ${session_id} is the file of ${found}; use ids that differ by more than case`,
    );
  }

  #remove(session_id: string): void {
    const { fs, dir, exports } = this.#options;
    this.#ahead.delete(session_id);
    for (const name of fs.readdirSync(dir).filter(matchFiles(session_id))) unlinkIfThere(fs, join(dir, name));
    // First: files that came back after a power cut would be imported.
    syncDirectory(fs, dir);
    exports.forget(session_id);
    this.#skipped.delete(session_id);
  }

  #tryTruncate(fd: number, length: number): void {
    try {
      this.#options.fs.ftruncateSync(fd, length);
    } catch {
      // The next attempt writes the same bytes there.
    }
  }
}
