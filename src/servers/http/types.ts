// What the HTTP server gets from the daemon, and how much it lets in.
import type { Log } from "../../base/log.ts";
import type { Metrics } from "../../base/metrics.ts";
import type { SessionCounts } from "../../sessions/index.ts";
import type { Manager } from "../../sessions/manager-types.ts";
import type { DaemonFacts } from "../types.ts";

export interface HttpContext {
  manager: Manager;
  metrics: Metrics;
  hub: { counts(): SessionCounts };
  facts: DaemonFacts;
  log: Log;
}

export interface HttpLimits {
  maxBodyBytes: number;
  /** A stream that has so much waiting is fed later. */
  outboxBytes: number;
  /** A client that takes nothing for this long is dropped. */
  slowConsumerMs: number;
  /** Event streams at once. */
  maxStreams: number;
  maxConnections: number;
  /** How long the head of a request may take, and the whole of it. */
  headersTimeoutMs: number;
  requestTimeoutMs: number;
  /** How often the two above and slow clients are looked at. */
  checkEveryMs: number;
  /** A quiet stream says so often that it lives. */
  heartbeatMs: number;
  /** The bearer token's file. */
  tokenFile: string;
}

/** Values for what the daemon's settings do not say. */
export const HTTP_DEFAULTS = {
  maxStreams: 256,
  headersTimeoutMs: 5_000,
  requestTimeoutMs: 15_000,
  checkEveryMs: 1_000,
  heartbeatMs: 15_000,
} as const;

/** Where a request comes in: the guard's rules differ. `tcp` is always the loopback interface. */
export type Place = { kind: "unix" } | { kind: "tcp"; port: number };
