// Agents that a killed daemon left running. Every agent process, and everything it starts, has BLEMEES_DAEMON_ID in its
// environment: `<run of a daemon>@<its socket>`. The daemon that holds the socket kills those of earlier ones.
import { setTimeout as delay } from "node:timers/promises";
import { toMessage } from "../base/coded-error.ts";
import { findByEnvironment, killAll } from "../base/descendants.ts";
import type { Log } from "../base/log.ts";

const NAME = "BLEMEES_DAEMON_ID";
const GRACE_MS = 500;
const RETRY_MS = 200;

export interface DaemonIdentity {
  env: Record<string, string>;
  /**
   * Kills agents of earlier daemons. Retries until `closing` if processes cannot be listed, e.g. without free descriptors.
   * Never rejects.
   */
  sweep(log: Log, closing: AbortSignal): Promise<void>;
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
    async sweep(log, closing) {
      for (let isFirst = true; isFirst || !closing.aborted; isFirst = false) {
        try {
          const left = await find(NAME, (value) => value !== own && value.endsWith(`@${socketPath}`));
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
