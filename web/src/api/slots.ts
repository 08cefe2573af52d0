// Which tab may hold a stream. A browser gives one origin six connections over HTTP/1.1, and all tabs share them: at
// most four are streams, a hidden tab has no stream of a session, and of the hidden tabs one watches the changes.

export type Purpose = "changes" | "session";

/** The right to hold one stream, until `signal` says that another tab needs it more. */
export interface Slot {
  signal: AbortSignal;
  release(): void;
}

export interface Slots {
  /** Waits while this tab has no claim. Undefined: it has one, but all are taken; ask now and then instead. */
  take(purpose: Purpose, signal: AbortSignal): Promise<Slot | undefined>;
}

/** For where there is no limit: no browser, or one without Web Locks. */
export const UNLIMITED: Slots = {
  take: async (_purpose, signal) => ({ signal, release: () => undefined }),
};

/** Whether somebody sees the page. `onChange` gives what ends the listening. */
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
    const turned = new AbortController();
    const stop = this.#visibility.onChange(() => turned.abort());
    const either = AbortSignal.any([signal, turned.signal]);
    const held: (() => void)[] = [stop];
    const release = (): void => {
      for (const free of held.splice(0)) free();
    };
    try {
      if (this.#visibility.isHidden()) {
        if (purpose === "session") await aborted(either);
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
      // The page was shown or hidden meanwhile: the claim is another one.
      if (!signal.aborted && turned.signal.aborted) return this.take(purpose, signal);
      throw error;
    }
  }

  /** Resolves with what frees it. */
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

/** A page that is hidden for a moment keeps what it has: people switch to and fro. */
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

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
