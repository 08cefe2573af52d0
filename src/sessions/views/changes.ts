// Notifies listeners that a session's view has changed. Views are computed at most once per session and window, and
// only if there are listeners; the last state is always delivered. Listeners must not wait; one that throws does not
// affect others.
import { toMessage } from "../../base/coded-error.ts";
import type { Log } from "../../base/log.ts";
import type { InputRecord } from "../../protocol/queue.ts";
import type { RequestRow } from "../../protocol/requests.ts";
import type { ChangeView, SessionView } from "../../protocol/views.ts";

const WINDOW_MS = 50;

export interface ChangesOptions {
  /** Undefined if the session does not exist; a promise if it is not in memory. */
  view(session_id: string): SessionView | undefined | Promise<SessionView | undefined>;
  /** Its ancestors, whose views also count its requests. */
  above?(session_id: string): readonly string[];
  log: Log;
  windowMs?: number;
}

/** A session within its window: its view was sent, or is about to be. */
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
  /** Sessions whose view is being read from the store. */
  readonly #awaited = new Map<string, object>();

  constructor(options: ChangesOptions) {
    this.#options = options;
    this.#windowMs = options.windowMs ?? WINDOW_MS;
  }

  /** Something that the session's view shows may have changed. */
  markChanged(session_id: string): void {
    this.#touch(session_id);
    if (this.#listeners.size === 0) return;
    const open = this.#windows.get(session_id);
    if (open !== undefined) {
      open.isDue = true;
      return;
    }
    const window = { isDue: false, timer: this.#later(session_id) };
    this.#windows.set(session_id, window);
    // Deferred: the caller may be about to change more.
    queueMicrotask(() => {
      if (this.#windows.get(session_id) === window) this.#show(session_id);
    });
  }

  markRemoved(session_id: string): void {
    this.#close(session_id);
    this.#awaited.delete(session_id);
    this.#touch(session_id);
    this.#notify({ kind: "session_removed", session_id });
  }

  /** A ledger row is new or has changed: reported as it is, together with the views that count it. */
  reportRequest(row: RequestRow): void {
    this.#notify({ kind: "request", request: row });
    this.markChanged(row.session_id);
    for (const session_id of this.#options.above?.(row.session_id) ?? []) this.markChanged(session_id);
  }

  /** A message was queued, delivered, or is done. */
  reportInput(session_id: string, input: InputRecord): void {
    this.#notify({ kind: "queue", session_id, input });
    this.markChanged(session_id);
  }

  /** Subscribes to all changes. Returns the unsubscribe function. */
  subscribe(listener: (change: ChangeView) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.close();
    };
  }

  /**
   * Calls `ear` at every change of this session, synchronously and without a view. Returns the unsubscribe function.
   */
  onTouch(session_id: string, ear: () => void): () => void {
    const ears = this.#touched.get(session_id) ?? new Set();
    this.#touched.set(session_id, ears.add(ear));
    return () => {
      ears.delete(ear);
      if (ears.size === 0 && this.#touched.get(session_id) === ears) this.#touched.delete(session_id);
    };
  }

  /** Drops pending notifications. */
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
      if (session instanceof Promise) this.#await(session_id, session);
      else if (session !== undefined) {
        this.#awaited.delete(session_id);
        this.#notify({ kind: "session", session });
      }
    });
  }

  /** Not shown if the session was removed or shown otherwise meanwhile. */
  #await(session_id: string, reading: Promise<SessionView | undefined>): void {
    this.#awaited.set(session_id, reading);
    const take = (session?: SessionView) => {
      if (this.#awaited.get(session_id) !== reading) return;
      this.#awaited.delete(session_id);
      if (session !== undefined) this.#notify({ kind: "session", session });
    };
    reading.then(take, (error: unknown) => {
      take();
      this.#options.log.error("changes.listener_failed", { message: toMessage(error) });
    });
  }

  #notify(change: ChangeView): void {
    for (const listener of [...this.#listeners]) this.#guard(() => listener(change));
  }

  #guard(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#options.log.error("changes.listener_failed", { message: toMessage(error) });
    }
  }
}
