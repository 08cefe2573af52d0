// Agents that a killed daemon left behind. Every agent process, and all it starts, carries BLEMEES_DAEMON_ID
// in its environment: `<one life of a daemon>@<its socket>`. Whoever holds the socket now ends what earlier
// holders left.
import { setTimeout as delay } from "node:timers/promises";
import { messageOf } from "../base/coded-error.ts";
import { findByEnvironment, killAll } from "../base/descendants.ts";
import type { Log } from "../base/log.ts";

const NAME = "BLEMEES_DAEMON_ID";
const GRACE_MS = 500;
const RETRY_MS = 200;

export interface DaemonIdentity {
  env: Record<string, string>;
  /**
   * Ends what earlier holders left. Tries again until `closing` when processes cannot be listed, as when descriptors
   * have run out. Never rejects.
   */
  sweep(log: Log, closing: AbortSignal): Promise<void>;
  /** Kills every process of this life of the daemon: the last resort when the orderly end did not come. */
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
          if (isFirst) log.warn("daemon.sweep_failed", { message: messageOf(error) });
        }
        await delay(RETRY_MS, undefined, { signal: closing }).catch(() => undefined);
      }
    },
  };
}
