// Decides which tab may hold a stream. Browsers allow six HTTP/1.1 connections per origin, shared by all tabs: up to
// four are streams, hidden tabs hold no session stream, and one hidden tab follows changes.

export type Purpose = "changes" | "session";

/** Permission to hold one stream, until `signal` aborts. */
export interface Slot {
  signal: AbortSignal;
  release(): void;
}

export interface Slots {
  /** Waits while this tab may not hold a stream. Undefined: all slots are taken; poll instead. */
  take(purpose: Purpose, signal: AbortSignal): Promise<Slot | undefined>;
}

/** For tests, and browsers without Web Locks. */
export const UNLIMITED: Slots = {
  take: async (_purpose, signal) => ({ signal, release: () => undefined }),
};

/** `onChange` returns an unsubscribe function. */
export interface Visibility {
  isHidden(): boolean;
  onChange(listener: () => void): () => void;
}

const STREAMS = 4;
const WATCHER = "blemees.watcher";

export class TabSlots implements Slots {
  readonly #locks: Pick<LockManager, "request">;
  readonly #visibility: Visibility;

  constructor(locks: Pick<LockManager, "request">, visibility: Visibility) {
    this.#locks = locks;
    this.#visibility = visibility;
  }

  async take(purpose: Purpose, signal: AbortSignal): Promise<Slot | undefined> {
    const flipped = new AbortController();
    const stop = this.#visibility.onChange(() => flipped.abort());
    const either = AbortSignal.any([signal, flipped.signal]);
    const held: (() => void)[] = [stop];
    const release = (): void => {
      for (const free of held.splice(0)) free();
    };
    try {
      if (this.#visibility.isHidden()) {
        if (purpose === "session") await waitForAbort(either);
        else held.push(await this.#lock(WATCHER, { signal: either }));
      }
      either.throwIfAborted();
      for (let index = 0; index < STREAMS; index += 1) {
        const free = await this.#tryLock(`blemees.stream.${index}`);
        if (free === undefined) continue;
        held.push(free);
        return { signal: either, release };
      }
      release();
      return undefined;
    } catch (error) {
      release();
      // The page was shown or hidden meanwhile: try again.
      if (!signal.aborted && flipped.signal.aborted) return this.take(purpose, signal);
      throw error;
    }
  }

  /** Resolves with a function that releases it. */
  #lock(name: string, options: LockOptions): Promise<() => void> {
    return new Promise((resolve, reject) => {
      this.#locks.request(name, options, () => new Promise<void>((free) => resolve(free))).catch(reject);
    });
  }

  #tryLock(name: string): Promise<(() => void) | undefined> {
    return new Promise((resolve, reject) => {
      this.#locks
        .request(name, { ifAvailable: true }, (lock) => {
          if (lock === null) {
            resolve(undefined);
            return undefined;
          }
          return new Promise<void>((free) => resolve(free));
        })
        .catch(reject);
    });
  }
}

/** A page hidden for less than `graceMs` counts as visible: users switch back and forth. */
export function documentVisibility(page: Document, graceMs: number): Visibility {
  const listeners = new Set<() => void>();
  let isHidden = page.visibilityState === "hidden";
  let timer: ReturnType<typeof setTimeout> | undefined;
  const settle = (value: boolean): void => {
    if (value === isHidden) return;
    isHidden = value;
    for (const listener of [...listeners]) listener();
  };
  page.addEventListener("visibilitychange", () => {
    clearTimeout(timer);
    if (page.visibilityState === "hidden") timer = setTimeout(() => settle(true), graceMs);
    else settle(false);
  });
  return {
    isHidden: () => isHidden,
    onChange(listener) {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
  };
}

function waitForAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
