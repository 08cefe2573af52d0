// Agents that a killed daemon left behind. Every agent process, and all it starts, carries BLEMEES_DAEMON_ID
// in its environment: `<one life of a daemon>@<its socket>`. Whoever holds the socket now ends what earlier
// holders left.
import { findByEnvironment, killAll } from "../base/descendants.ts";
import type { Log } from "../base/log.ts";

const NAME = "BLEMEES_DAEMON_ID";
const GRACE_MS = 500;

export interface DaemonIdentity {
  env: Record<string, string>;
  sweep(log: Log): Promise<void>;
  /** Kills every process of this life of the daemon: the last resort when the orderly end did not come. */
  killOwn(): Promise<void>;
}

export function createIdentity(socketPath: string, life: string): DaemonIdentity {
  const own = `${life}@${socketPath}`;
  return {
    env: { BLEMEES_SOCKET: socketPath, [NAME]: own },
    async killOwn() {
      await killAll(await findByEnvironment(NAME, (value) => value === own), 0);
    },
    async sweep(log) {
      const left = await findByEnvironment(
        NAME,
        (value) => value !== own && value.endsWith(`@${socketPath}`),
      );
      if (left.length === 0) return;
      const alive = await killAll(left, GRACE_MS);
      log.warn("daemon.orphans_swept", { found: left.length, still_alive: alive.length });
    },
  };
}
