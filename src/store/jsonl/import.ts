// Imports log files that the database does not have: from versions that stored sessions in them, from a database that was
// lost, and new frames at the end of a known file. The originals stay.
import { toMessage } from "../../base/coded-error.ts";
import type { JsonObject } from "../../base/json.ts";
import { formatTimestamp } from "../../base/timestamp.ts";
import { asObject } from "../../base/values.ts";
import type { SessionRow } from "../../protocol/session.ts";
import type { FileSystem } from "../disk/file-system.ts";
import { setAside } from "../disk/torn.ts";
import { openIfThere } from "../disk/whole.ts";
import type { SqliteDriver } from "../sqlite/driver.ts";
import { EMPTY, type Exports, type Place, REMOVED } from "../sqlite/exports.ts";
import type { DriverOptions } from "../types.ts";
import { keepLedgerFiles, readLedger } from "./ledger-files.ts";
import { findOwner, logPath } from "./paths.ts";
import { readFirstFrame, scanFrames } from "./scan.ts";
import { readSidecar } from "./sidecar.ts";

export interface ImportOptions extends DriverOptions {
  fs: FileSystem;
  dir: string;
  driver: SqliteDriver;
  exports: Exports;
}

/** A session that cannot be imported is reported and left alone; returns the ids of those. */
export function importDirectory(options: ImportOptions): Set<string> {
  const { fs, dir, onRecovery } = options;
  const ids = new Set(fs.readdirSync(dir).map(findOwner));
  const failed = new Set<string>();
  let [sessions, events] = [0, 0];
  for (const session_id of ids) {
    if (session_id === undefined) continue;
    try {
      const imported = importSession(options, session_id);
      if (imported !== undefined) sessions += 1;
      events += imported ?? 0;
    } catch (error) {
      failed.add(session_id);
      const message = `cannot import ${logPath(dir, session_id)}: ${toMessage(error)}`;
      onRecovery({ session_id, kept_seq: 0, cut_bytes: 0, message });
    }
  }
  if (sessions === 0) return failed;
  const message = `imported ${sessions} sessions with ${events} events from the JSONL files in ${dir}`;
  onRecovery({ event: "imported", kept_seq: 0, cut_bytes: 0, message });
  return failed;
}

/** How many events were imported; undefined when there was nothing to import. */
function importSession(options: ImportOptions, session_id: string): number | undefined {
  const { fs, dir, driver, exports } = options;
  const place = exports.load(session_id);
  const isNew = place === undefined;
  // A session with frames but no place has a history of its own; the export moves the file aside. A row alone is no
  // history: after a lost database the journal may still hold one.
  if (isNew ? driver.newestSeq(session_id) !== undefined : place.bytes === REMOVED) return undefined;
  const fd = openIfThere(fs, logPath(dir, session_id), "r+");
  try {
    if (isNew) return importNew(options, session_id, fd);
    // The database has more than the file, or the file is not the one we wrote: it will be written again.
    if (fd === undefined || (driver.newestSeq(session_id) ?? 0) !== place.last_seq) return undefined;
    if (fs.fstatSync(fd).size <= place.bytes) return undefined;
    if (place.bytes > 0 && readFirstFrame(fs, fd)?.["seq"] !== place.first_seq) return undefined;
    const row = readSidecar(fs, dir, session_id);
    const isNewer = row !== undefined && row.last_seq > place.last_seq;
    return importFrames(options, { session_id, fd, place, row: isNewer ? row : undefined });
  } finally {
    if (fd !== undefined) fs.closeSync(fd);
  }
}

function importNew(options: ImportOptions, session_id: string, fd: number | undefined): number | undefined {
  const { fs, dir, driver } = options;
  const sidecar = readSidecar(fs, dir, session_id);
  // Not a session log.
  if (sidecar === undefined && (fd === undefined || readFirstFrame(fs, fd)?.["session_id"] !== session_id)) {
    return undefined;
  }
  const stored = driver.loadRow(session_id);
  const isStoredNewer = (stored?.last_active_at_ms ?? 0) > (sidecar?.last_active_at_ms ?? 0);
  const row = isStoredNewer ? stored : sidecar;
  const events = importFrames(options, { session_id, fd, place: EMPTY, row });
  keepLedgerFiles(options, session_id);
  return events;
}

interface Found {
  session_id: string;
  fd: number | undefined;
  /** What is imported already. */
  place: Place;
  row: SessionRow | undefined;
}

function importFrames(options: ImportOptions, { session_id, fd, place, row }: Found): number {
  const { fs, dir, driver, exports, now, onRecovery } = options;
  const stat = fd === undefined ? { size: 0, mtimeMs: now() } : fs.fstatSync(fd);
  const next = { ...place };
  let events = 0;
  let turn = row?.turn;
  let aside: string | undefined;
  driver.importAll((into) => {
    const start = { session_id, offset: place.bytes, last_seq: place.last_seq };
    const onFrame = (frame: JsonObject, seq: number) => {
      if (seq > (row?.last_seq ?? 0)) turn = followTurn(frame, turn);
    };
    for (const batch of fd === undefined ? [] : scanFrames(fs, fd, start, onFrame)) {
      // Lines have no times; retention counted from the file's last write.
      into.addBatch(batch, Math.trunc(stat.mtimeMs));
      if (next.bytes === 0) next.first_seq = batch.first_seq;
      next.last_seq = batch.last_seq;
      next.bytes += batch.bytes.length;
      events += batch.last_seq - batch.first_seq + 1;
    }
    if (row !== undefined) {
      const { turn: _turn, ...rest } = row;
      into.saveRow(turn === undefined ? rest : { ...rest, turn });
    }
    if (place.bytes === 0) {
      const requests = readLedger(options, session_id, next.last_seq || (row?.last_seq ?? 0));
      for (const request of requests) into.saveRequest(request);
    }
    // Before the place is stored: the export cuts the file there.
    if (fd !== undefined && stat.size > next.bytes) {
      const torn = { fd, path: logPath(dir, session_id), start: next.bytes };
      aside = setAside(fs, torn, `torn-${formatTimestamp(now())}`);
    }
    exports.save(session_id, next);
  });
  if (fd !== undefined && aside !== undefined) {
    fs.ftruncateSync(fd, next.bytes);
    onRecovery({ session_id, kept_seq: next.last_seq, cut_bytes: stat.size - next.bytes, aside });
  }
  return events;
}

/** A daemon that was killed after writing frames and before the row left an old row: the frames say which turn ran. */
function followTurn(frame: JsonObject, turn: SessionRow["turn"]): SessionRow["turn"] {
  if (frame["type"] === "agent.result") return undefined;
  if (frame["category"] !== "task_started") return turn;
  const { turn_id, started_at_ms } = asObject(frame["data"]);
  if (typeof turn_id !== "string" || typeof started_at_ms !== "number") return turn;
  return { turn_id, started_at_ms };
}
