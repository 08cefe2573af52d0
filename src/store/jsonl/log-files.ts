// The log files in use. Handles are few (64), what is known about a file is kept longer (1,024 sessions), so
// that a session is not scanned again each time its handle was needed elsewhere.
import type { LogFile } from "./log-file.ts";

const MAX_HANDLES = 64;
const MAX_FILES = 1024;

export class LogFiles {
  readonly #open: (session_id: string) => LogFile;
  /** Least recently used first. */
  readonly #files = new Map<string, LogFile>();

  constructor(open: (session_id: string) => LogFile) {
    this.#open = open;
  }

  get(session_id: string): LogFile {
    const found = this.#files.get(session_id);
    const file = found ?? this.#open(session_id);
    this.#files.delete(session_id);
    this.#files.set(session_id, file);
    if (found === undefined) this.#forgetOldest();
    this.#releaseOldest();
    return file;
  }

  /** The file, if it was touched before. */
  peek(session_id: string): LogFile | undefined {
    return this.#files.get(session_id);
  }

  forget(session_id: string): void {
    this.#files.get(session_id)?.release();
    this.#files.delete(session_id);
  }

  close(): void {
    for (const file of this.#files.values()) {
      try {
        file.sync();
      } finally {
        file.release();
      }
    }
    this.#files.clear();
  }

  #forgetOldest(): void {
    if (this.#files.size <= MAX_FILES) return;
    for (const [session_id, file] of this.#files) {
      if (file.isBroken) continue;
      this.forget(session_id);
      return;
    }
  }

  #releaseOldest(): void {
    const open = [...this.#files.values()].filter((file) => file.isOpen);
    for (const file of open.slice(0, Math.max(0, open.length - MAX_HANDLES))) file.release();
  }
}
