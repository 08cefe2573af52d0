// Shared agent processes: one per command line and environment, started with its first session and ended shortly after
// its last, so that a reopened session finds it running.
import { randomUUID } from "node:crypto";
import { CodedError } from "../base/coded-error.ts";

/** A process for several sessions. */
export interface Pooled {
  /** False: it accepts no new session. */
  readonly isAlive: boolean;
  stop(how: "finish" | "now"): Promise<void>;
}

/** Equal keys share a process. */
export interface PooledOrder {
  command: string;
  args: readonly string[];
  env: Record<string, string | undefined>;
}

/** A lease on a process; released once. */
export interface Lease<S extends Pooled> {
  readonly server: S;
  /** No other session is in the process. */
  readonly isOwn: boolean;
  /** Resolves when unused processes have ended, or will end after the linger time. */
  release(how: "finish" | "now"): Promise<void>;
}

export interface PoolOptions<S extends Pooled, O extends PooledOrder> {
  start(order: O): Promise<S>;
  lingerMs: number;
}

interface Entry<S> {
  readonly starting: Promise<S>;
  server?: S;
  leases: number;
  linger?: NodeJS.Timeout;
}

export class Pool<S extends Pooled, O extends PooledOrder> {
  readonly #options: PoolOptions<S, O>;
  readonly #entries = new Map<string, Entry<S>>();
  readonly #ending = new Set<Promise<void>>();
  #isClosed = false;

  constructor(options: PoolOptions<S, O>) {
    this.#options = options;
  }

  /** Processes that respond, in no order: for questions that any of them can answer. */
  get running(): S[] {
    return [...this.#entries.values()].flatMap(({ server }) => (server?.isAlive ? [server] : []));
  }

  /** `own`: a process that is not shared. */
  async acquire(order: O, own: boolean): Promise<Lease<S>> {
    if (this.#isClosed) throw new CodedError("daemon_shutdown", "the daemon is shutting down");
    const key = own ? randomUUID() : makeKey(order);
    const entry = this.#take(key) ?? this.#create(key, order);
    entry.leases += 1;
    clearTimeout(entry.linger);
    try {
      const server = await entry.starting;
      // It may have died while we waited for it.
      if (!server.isAlive) {
        throw new CodedError("spawn_failed", `${order.command} exited right after its start`);
      }
      return this.#lease(key, entry, server, {
        isOwn: own,
        lingerMs: own ? 0 : this.#options.lingerMs,
      });
    } catch (error) {
      await this.#release(key, entry, "now", 0);
      throw error;
    }
  }

  /**
   * Adds a process that an earlier daemon started. It gets no new sessions; each of its own takes a lease. `drop`: it is
   * not used after all.
   */
  adopt(server: S, isOwn: boolean): { lease(): Lease<S>; drop(): void } {
    const key = randomUUID();
    const entry: Entry<S> = { starting: Promise.resolve(server), server, leases: 0 };
    this.#entries.set(key, entry);
    return {
      lease: () => {
        entry.leases += 1;
        return this.#lease(key, entry, server, { isOwn, lingerMs: 0 });
      },
      drop: () => this.#entries.delete(key),
    };
  }

  /** Ends every process; safe to call twice. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const [key, entry] of this.#entries) this.#end(key, entry, "now");
    await Promise.all(this.#ending);
  }

  #take(key: string): Entry<S> | undefined {
    const entry = this.#entries.get(key);
    if (entry?.server?.isAlive === false) {
      this.#entries.delete(key);
      return undefined;
    }
    return entry;
  }

  #create(key: string, order: O): Entry<S> {
    const entry: Entry<S> = { starting: this.#options.start(order), leases: 0 };
    entry.starting.then(
      (server) => {
        entry.server = server;
      },
      () => {
        if (this.#entries.get(key) === entry) this.#entries.delete(key);
      },
    );
    this.#entries.set(key, entry);
    return entry;
  }

  #lease(
    key: string,
    entry: Entry<S>,
    server: S,
    { isOwn, lingerMs }: { isOwn: boolean; lingerMs: number },
  ): Lease<S> {
    let isOut = false;
    const release = async (how: "finish" | "now") => {
      if (isOut) return;
      isOut = true;
      await this.#release(key, entry, how, lingerMs);
    };
    return { server, isOwn, release };
  }

  async #release(key: string, entry: Entry<S>, how: "finish" | "now", lingerMs: number): Promise<void> {
    entry.leases -= 1;
    if (entry.leases > 0) return;
    if (lingerMs <= 0 || entry.server?.isAlive !== true) {
      await this.#end(key, entry, how);
      return;
    }
    entry.linger = setTimeout(() => void this.#end(key, entry, "finish"), lingerMs);
    // If the daemon exits first, the next one ends it: it serves no session.
    entry.linger.unref();
  }

  #end(key: string, entry: Entry<S>, how: "finish" | "now"): Promise<void> {
    clearTimeout(entry.linger);
    if (this.#entries.get(key) === entry) this.#entries.delete(key);
    const ended = entry.starting.then(
      (server) => server.stop(how),
      () => undefined, // it never ran; its caller has the error
    );
    this.#ending.add(ended);
    return ended.finally(() => this.#ending.delete(ended));
  }
}

function makeKey({ command, args, env }: PooledOrder): string {
  return JSON.stringify([command, args, Object.entries(env).sort(([a], [b]) => (a < b ? -1 : 1))]);
}
