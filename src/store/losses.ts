// Which sessions have lost frames to a disk that took nothing. Who dies in such a time could write that nowhere, so the
// room for it is taken when the daemon starts, and written over in place.
import { closeSync, fstatSync, openSync, readSync, writeSync } from "node:fs";
import { isObject } from "../base/json.ts";

/** Some 500 sessions; what does not fit is not told. */
const SIZE = 32 * 1024;

export interface Losses {
  /** What an earlier daemon lost and could not tell: the seq behind which something is missing, by session. */
  readonly left: ReadonlyMap<string, number>;
  /** Frames behind this seq could not be stored. */
  lost(session_id: string, after_seq: number): void;
  /** The session's history says so now. */
  told(session_id: string): void;
  close(): void;
}

/** Throws when there is no room for it now. */
export function openLosses(path: string): Losses {
  const fd = openSync(path, "a+", 0o600);
  closeSync(fd);
  return new LossFile(openSync(path, "r+", 0o600));
}

class LossFile implements Losses {
  readonly left: ReadonlyMap<string, number>;
  readonly #fd: number;
  readonly #known: Map<string, number>;

  constructor(fd: number) {
    this.#fd = fd;
    this.#known = read(fd);
    this.left = new Map(this.#known);
    // Taken once; a later write within it needs no more of the disk.
    if (fstatSync(fd).size < SIZE) writeSync(fd, Buffer.alloc(SIZE), 0, SIZE, 0);
    this.#write();
  }

  lost(session_id: string, after_seq: number): void {
    if (this.#known.has(session_id)) return;
    this.#known.set(session_id, after_seq);
    this.#write();
  }

  told(session_id: string): void {
    if (this.#known.delete(session_id)) this.#write();
  }

  close(): void {
    closeSync(this.#fd);
  }

  #write(): void {
    const room = Buffer.alloc(SIZE);
    const text = JSON.stringify(Object.fromEntries(this.#known));
    if (room.write(text) < Buffer.byteLength(text)) return; // the ones that are there stay
    try {
      writeSync(this.#fd, room, 0, SIZE, 0);
    } catch {
      // A file system that writes elsewhere when it writes over: nothing can be done, and the log has the fault.
    }
  }
}

/** What cannot be read was written by somebody else, or half. */
function read(fd: number): Map<string, number> {
  const bytes = Buffer.alloc(SIZE);
  const size = readSync(fd, bytes, 0, SIZE, 0);
  const end = bytes.indexOf(0);
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8", 0, end === -1 ? size : end));
    if (!isObject(value)) return new Map();
    return new Map(
      Object.entries(value).filter((entry): entry is [string, number] => Number.isSafeInteger(entry[1])),
    );
  } catch {
    return new Map();
  }
}
