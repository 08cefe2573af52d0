// Agents that a killed daemon left running. Every agent process, and everything it starts, has BLEMEES_DAEMON_ID in its
// environment: `<run of a daemon>@<its socket>`. The daemon that holds the socket kills those of earlier ones.
import { setTimeout as delay } from "node:timers/promises";
import { RUN_MARKER } from "../base/child.ts";
import { toMessage } from "../base/coded-error.ts";
import { findByEnvironment, killAll } from "../base/descendants.ts";
import type { Log } from "../base/log.ts";

const NAME = "BLEMEES_DAEMON_ID";
const SESSION = "BLEMEES_SESSION_ID";
const GRACE_MS = 500;
const RETRY_MS = 200;

/** Ids of what an earlier daemon started and this one continues. */
export interface Adopted {
  runs: ReadonlySet<string>;
  sessions: ReadonlySet<string>;
}

export interface DaemonIdentity {
  env: Record<string, string>;
  /**
   * Kills agents of earlier daemons. Retries until `closing` if processes cannot be listed, e.g. without free descriptors.
   * Never rejects. What belongs to these runs or sessions is spared: their agents were adopted.
   */
  sweep(log: Log, closing: AbortSignal, adopted: Adopted): Promise<void>;
  /** Kills every process of this daemon: the last resort if the orderly shutdown fails. */
  killOwn(): Promise<void>;
}

export function createIdentity(
  socketPath: string,
  life: string,
  find: typeof findByEnvironment = findByEnvironment,
): DaemonIdentity {
  const own = `${life}@${socketPath}`;
  return {
    env: { BLEMEES_SOCKET: socketPath, [NAME]: own },
    async killOwn() {
      await killAll(await find(NAME, (value) => value === own), 0);
    },
    async sweep(log, closing, adopted) {
      const isOrphan: Parameters<typeof find>[1] = (value, read) =>
        value !== own &&
        value.endsWith(`@${socketPath}`) &&
        !adopted.runs.has(read(RUN_MARKER) ?? "") &&
        !adopted.sessions.has(read(SESSION) ?? "");
      for (let isFirst = true; isFirst || !closing.aborted; isFirst = false) {
        try {
          const left = await find(NAME, isOrphan);
          if (left.length === 0) return;
          const alive = await killAll(left, GRACE_MS);
          log.warn("daemon.orphans_swept", { found: left.length, still_alive: alive.length });
          return;
        } catch (error) {
          if (isFirst) log.warn("daemon.sweep_failed", { message: toMessage(error) });
        }
        await delay(RETRY_MS, undefined, { signal: closing }).catch(() => undefined);
      }
    },
  };
}
