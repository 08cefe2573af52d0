// What the HTTP server gets from the daemon, and how much it lets in.
import type { Log } from "../../base/log.ts";
import type { Metrics } from "../../base/metrics.ts";
import type { WebLink } from "../../protocol/wire/http.ts";
import type { SessionCounts } from "../../sessions/index.ts";
import type { Manager } from "../../sessions/manager-types.ts";
import type { DaemonFacts } from "../types.ts";
import type { WebFiles } from "./web/files.ts";

export interface HttpContext {
  manager: Manager;
  metrics: Metrics;
  hub: { counts(): SessionCounts };
  facts: DaemonFacts;
  log: Log;
  web: WebDoor;
}

/** The way into the dashboard. */
export interface WebDoor {
  /** Throws `not_found` when they were not built. */
  files(): WebFiles;
  /** Opens the loopback port, `port` if none is open yet, and makes a link that works once. */
  link(port?: number): Promise<WebLink>;
  /** The API's token for a link's one-time word. Throws `unauthorized`, `too_many_tries`. */
  enter(ticket: string): Promise<string>;
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
