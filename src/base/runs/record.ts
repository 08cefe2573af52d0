// What a daemon asked an agent, recorded before it goes out: calls, with the place in the agent's output where they were
// made, and the lines that were written. A later daemon repeats the calls to learn what is still open (replay.ts).
// Never synced: an agent does not survive the machine, and a killed process loses nothing that it wrote.
import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import { isObject } from "../json.ts";
import { readMonotonicMs } from "../monotonic.ts";

export interface RecordedCall {
  n: number;
  /** The offset in the output up to which it had been read. */
  at: number;
  session_id: string;
  name: string;
  args: unknown[];
  /** By `readMonotonicMs`. */
  at_ms: number;
}

export interface RecordedWrite {
  n: number;
  line: string;
  /** False: the daemon died before it could confirm that the whole line was written. */
  isDone: boolean;
}

export interface RunHistory {
  calls: RecordedCall[];
  writes: RecordedWrite[];
  /** The number of the last entry. */
  last: number;
}

const LF = 0x0a;

export class RunRecord {
  readonly #fd: number;
  #last: number;
  /** Entries that are written with the next one. */
  #held = "";
  #isClosed = false;

  /** Continues after entry `last`. */
  constructor(path: string, last = 0) {
    this.#fd = openSync(path, "a");
    this.#last = last;
    // A kill can tear a long entry; the next one must not continue its line.
    const bytes = readFileSync(path);
    const end = bytes.lastIndexOf(LF) + 1;
    if (end < bytes.length) ftruncateSync(this.#fd, end);
  }

  /** The number of the last entry. */
  get last(): number {
    return this.#last;
  }

  /** Written by `flush`, or with the next entry. */
  hold(call: Omit<RecordedCall, "n" | "at_ms">): void {
    this.#held += format({ call: this.#next(), ...call, at_ms: Math.floor(readMonotonicMs()) });
  }

  /** Throws if it cannot be recorded. */
  flush(): void {
    if (this.#held !== "") this.#add("");
  }

  /** Returns the number for `done`. Throws if it cannot be recorded. */
  write(line: string): number {
    const n = this.#next();
    this.#add(format({ write: n, line }));
    return n;
  }

  done(n: number): void {
    this.#add(format({ done: n }));
  }

  /** Entries up to `n` are no longer needed. */
  forget(n: number): void {
    if (n >= this.#last && !this.#isClosed) ftruncateSync(this.#fd, 0);
  }

  close(): void {
    if (!this.#isClosed) closeSync(this.#fd);
    this.#isClosed = true;
  }

  #next(): number {
    this.#last += 1;
    return this.#last;
  }

  #add(entry: string): void {
    const bytes = Buffer.from(this.#held + entry);
    this.#held = "";
    if (this.#isClosed) return;
    const count = writeSync(this.#fd, bytes);
    if (count < bytes.length)
      throw new Error(`wrote only ${count} of ${bytes.length} bytes; the disk may be full`);
  }
}

function format(entry: object): string {
  return `${JSON.stringify(entry)}\n`;
}

/** `after`: skips entries up to this number. An incomplete last entry is ignored. */
export function readRecord(path: string, after: number): RunHistory {
  const history: RunHistory = { calls: [], writes: [], last: after };
  const writes = new Map<number, RecordedWrite>();
  for (const line of readFileSync(path, "utf8").split("\n").slice(0, -1)) {
    const entry = JSON.parse(line) as unknown;
    if (!isObject(entry)) throw new Error("the record has an entry that is not an object");
    const { call, write, done } = entry;
    const n = Number(call ?? write ?? done);
    history.last = Math.max(history.last, n);
    if (n <= after) continue;
    if (call !== undefined) {
      const { at, session_id, name, args, at_ms } = entry as unknown as RecordedCall;
      history.calls.push({ n, at, session_id, name, args, at_ms });
    } else if (write !== undefined) writes.set(n, { n, line: String(entry["line"]), isDone: false });
    else {
      const written = writes.get(n);
      if (written !== undefined) written.isDone = true;
    }
  }
  history.writes = [...writes.values()];
  return history;
}
