// Keeps a run for the next daemon: records its calls, and writes a snapshot of its state when it is at rest.
import type { RunMark } from "../base/runs/mark.ts";
import type { RunFiles } from "../base/runs/run-files.ts";
import { removeSnapshot, writeSnapshot } from "../base/runs/snapshots.ts";
import type { RecordedName, RunKeeper } from "./types.ts";

export interface KeeperParts {
  files: RunFiles;
  session_id: string;
  generation: string;
  /** No turn is running, no request is open, and the agent has answered everything we asked. */
  isAtRest(): boolean;
  /** Everything that is needed to continue, as data. */
  state(): unknown;
  /** The end of the output that this session has processed; absent: everything that was read. */
  out?(): number;
  /** The same without a line that is being handled: what it leads to may be stored later. Absent: as `out`. */
  reportedOut?(): number;
  /** Of all sessions in the process; absent: there are no others. */
  others?(): Iterable<SnapshotKeeper>;
}

/** An idle session whose snapshot is further behind gets a new one, because a later daemon rereads everything after it. */
const LAG_BYTES = 256 * 1024;
const LAG_ENTRIES = 1000;

type About = Parameters<RunKeeper["checkpoint"]>[0];

export class SnapshotKeeper implements RunKeeper {
  readonly #parts: KeeperParts;
  /** The last snapshot; undefined if something has happened since. */
  #last: { out: number; n: number; about: About } | undefined;
  /** Where the last snapshot is; 0: it is from an earlier daemon, or there is none. */
  #writtenOut = 0;
  #hasLeft = false;

  constructor(parts: KeeperParts) {
    this.#parts = parts;
  }

  get mark(): RunMark {
    const { files, session_id, out, reportedOut = out } = this.#parts;
    const mark = files.markOf(session_id);
    return reportedOut === undefined ? mark : { ...mark, out: reportedOut() };
  }

  /** Calls of an earlier daemon are being repeated. */
  get isRepeating(): boolean {
    return !this.#parts.files.isStarted;
  }

  record<T>(name: RecordedName, args: unknown[], make: () => T): T {
    const { files, session_id, out } = this.#parts;
    this.touch();
    return files.call({ at: out?.() ?? files.mark.out, session_id, name, args }, make);
  }

  /** The state may have changed, or something was reported. */
  touch(): void {
    this.#last = undefined;
  }

  checkpoint(about: About, minBytes = 0): void {
    const { isAtRest, others } = this.#parts;
    if (this.mark.out - this.#writtenOut < minBytes) return;
    // Calls that are still to be repeated are in the record, but not in the state.
    if (this.#hasLeft || this.isRepeating || !isAtRest()) return;
    this.#write(about);
    for (const keeper of others?.() ?? []) if (keeper !== this) keeper.#follow();
  }

  drained(): Promise<void> {
    return this.#parts.files.drained();
  }

  /** The session has left the process; a snapshot would bring it back. Its end is reported later. */
  leave(): void {
    if (this.#hasLeft) return;
    this.release();
  }

  release(): void {
    const { files, session_id } = this.#parts;
    this.#hasLeft = true;
    this.touch();
    // First: the record may then be emptied, and numbers its next entries after those that the remaining snapshots include.
    removeSnapshot(files.directory.sessions, session_id);
    files.dropSnapshot(session_id);
  }

  /** While nothing happens its snapshot stays valid at any later offset; moving it forward lets earlier output be freed. */
  #follow(): void {
    if (this.#last === undefined) return;
    const { out, n, about } = this.#last;
    const { files, isAtRest } = this.#parts;
    const isBehind = this.mark.out - out > LAG_BYTES || files.record.last - n > LAG_ENTRIES;
    if (isBehind && isAtRest()) this.#write(about);
  }

  #write(about: About): void {
    const { files, session_id, generation, state } = this.#parts;
    const { out, err, n } = this.mark;
    const place = { out, err, n };
    files.keep(() =>
      writeSnapshot(files.directory.sessions, { session_id, generation, ...about, ...place, state: state() }),
    );
    files.noteSnapshot(session_id, place);
    this.#last = { ...place, about };
    this.#writtenOut = out;
  }
}
