// Tells whoever listens that a session looks different. Views are made at most once per session and window, and only
// if somebody listens; the last state always arrives. A listener never waits, and one that throws harms nobody.
import { messageOf } from "../../base/coded-error.ts";
import type { Log } from "../../base/log.ts";
import type { InputRecord } from "../../protocol/queue.ts";
import type { RequestRow } from "../../protocol/requests.ts";
import type { ChangeView, SessionView } from "../../protocol/views.ts";

const WINDOW_MS = 50;

export interface ChangesOptions {
  /** Undefined: there is no such session (any more). */
  view(session_id: string): SessionView | undefined;
  /** The sessions above it, whose views count its requests too. */
  above?(session_id: string): readonly string[];
  log: Log;
  windowMs?: number;
}

/** A session in whose window we are: its view went out, or is about to. */
interface Window {
  timer: NodeJS.Timeout;
  /** It has changed since. */
  isDue: boolean;
}

export class Changes {
  readonly #options: ChangesOptions;
  readonly #windowMs: number;
  readonly #listeners = new Set<(change: ChangeView) => void>();
  readonly #touched = new Map<string, Set<() => void>>();
  readonly #windows = new Map<string, Window>();

  constructor(options: ChangesOptions) {
    this.#options = options;
    this.#windowMs = options.windowMs ?? WINDOW_MS;
  }

  /** Something that the session's view shows may be different. */
  changed(session_id: string): void {
    this.#touch(session_id);
    if (this.#listeners.size === 0) return;
    const open = this.#windows.get(session_id);
    if (open !== undefined) {
      open.isDue = true;
      return;
    }
    const window = { isDue: false, timer: this.#later(session_id) };
    this.#windows.set(session_id, window);
    // Not now: who calls this may be in the middle of changing more.
    queueMicrotask(() => {
      if (this.#windows.get(session_id) === window) this.#show(session_id);
    });
  }

  removed(session_id: string): void {
    this.#close(session_id);
    this.#touch(session_id);
    this.#tell({ kind: "session_removed", session_id });
  }

  /** A row of the ledger is new or different: told as it is, and the views that count it with it. */
  request(row: RequestRow): void {
    this.#tell({ kind: "request", request: row });
    this.changed(row.session_id);
    for (const session_id of this.#options.above?.(row.session_id) ?? []) this.changed(session_id);
  }

  /** A message was queued, delivered, or is over. */
  queue(session_id: string, input: InputRecord): void {
    this.#tell({ kind: "queue", session_id, input });
    this.changed(session_id);
  }

  /** All changes from now on. Gives what ends it. */
  onChange(listener: (change: ChangeView) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.close();
    };
  }

  /** Calls `ear` at every change of this one session, at once and without a view. Gives what ends it. */
  onTouch(session_id: string, ear: () => void): () => void {
    const ears = this.#touched.get(session_id) ?? new Set();
    this.#touched.set(session_id, ears.add(ear));
    return () => {
      ears.delete(ear);
      if (ears.size === 0 && this.#touched.get(session_id) === ears) this.#touched.delete(session_id);
    };
  }

  /** Drops what would be told later. */
  close(): void {
    for (const session_id of [...this.#windows.keys()]) this.#close(session_id);
  }

  #later(session_id: string): NodeJS.Timeout {
    return setTimeout(() => {
      const window = this.#windows.get(session_id);
      if (window?.isDue !== true) {
        this.#windows.delete(session_id);
        return;
      }
      window.isDue = false;
      window.timer = this.#later(session_id);
      this.#show(session_id);
    }, this.#windowMs).unref();
  }

  #close(session_id: string): void {
    clearTimeout(this.#windows.get(session_id)?.timer);
    this.#windows.delete(session_id);
  }

  #touch(session_id: string): void {
    for (const ear of [...(this.#touched.get(session_id) ?? [])]) this.#guard(ear);
  }

  #show(session_id: string): void {
    this.#guard(() => {
      const session = this.#options.view(session_id);
      if (session !== undefined) this.#tell({ kind: "session", session });
    });
  }

  #tell(change: ChangeView): void {
    for (const listener of [...this.#listeners]) this.#guard(() => listener(change));
  }

  #guard(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#options.log.error("changes.listener_failed", { message: messageOf(error) });
    }
  }
}
