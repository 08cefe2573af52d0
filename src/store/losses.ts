// Records which sessions lost frames because the disk rejected writes. A daemon that dies on a full disk could not write
// this anywhere, so the space is allocated at the start and overwritten in place.
import { closeSync, fstatSync, openSync, readSync, writeSync } from "node:fs";
import { isObject } from "../base/json.ts";

/** About 500 sessions; more are not recorded. */
const SIZE = 32 * 1024;

export interface Losses {
  /** Losses that an earlier daemon did not report: by session, the seq after which frames are missing. */
  readonly left: ReadonlyMap<string, number>;
  /** Frames after this seq could not be stored. */
  record(session_id: string, after_seq: number): void;
  /** The session's history now reports the loss. */
  clear(session_id: string): void;
  close(): void;
}

/** Throws if the space cannot be allocated. */
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
    this.#known = readLosses(fd);
    this.left = new Map(this.#known);
    // Allocated once; later writes within it need no space.
    if (fstatSync(fd).size < SIZE) writeSync(fd, Buffer.alloc(SIZE), 0, SIZE, 0);
    this.#write();
  }

  record(session_id: string, after_seq: number): void {
    if (this.#known.has(session_id)) return;
    this.#known.set(session_id, after_seq);
    this.#write();
  }

  clear(session_id: string): void {
    if (this.#known.delete(session_id)) this.#write();
  }

  close(): void {
    closeSync(this.#fd);
  }

  #write(): void {
    const room = Buffer.alloc(SIZE);
    const text = JSON.stringify(Object.fromEntries(this.#known));
    if (room.write(text) < Buffer.byteLength(text)) return; // keep what is recorded
    try {
      writeSync(this.#fd, room, 0, SIZE, 0);
    } catch {
      // A copy-on-write file system needs space even to overwrite. The failed append was already logged.
    }
  }
}

/** An unreadable file counts as empty. */
function readLosses(fd: number): Map<string, number> {
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
