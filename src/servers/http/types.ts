// What the HTTP server gets from the daemon, and its limits.
import type { Log } from "../../base/log.ts";
import type { Metrics } from "../../base/metrics.ts";
import type { WebLink } from "../../protocol/wire/http.ts";
import type { IdentifyPeer, Policy, SessionCounts, Transcripts, Worktrees } from "../../sessions/index.ts";
import type { Manager } from "../../sessions/manager-types.ts";
import type { DaemonFacts } from "../types.ts";
import type { WebFiles } from "./web/files.ts";

export interface HttpContext {
  manager: Manager;
  /** Who a client is, from its process. */
  identify: IdentifyPeer;
  /** Absent: every request is asked. */
  policy?: Policy | undefined;
  /** Absent: sessions cannot be started in worktrees. */
  worktrees?: Worktrees | undefined;
  transcripts: Pick<Transcripts, "list" | "view" | "events">;
  metrics: Metrics;
  hub: { counts(): SessionCounts; runningAgents(): number };
  facts: DaemonFacts;
  log: Log;
  web: WebDoor;
  control: DaemonControl;
  /** Absent: there are no WebSockets. */
  acp?: AcpProgram | undefined;
}

/** `blemees acp`, to be started for a connection. */
export interface AcpProgram {
  command: string;
  args: readonly string[];
  env: NodeJS.ProcessEnv;
}

/** What clients can do to the daemon itself. */
export interface DaemonControl {
  /** Whether a stop leaves the agents running: as asked, or by the setting. */
  leavesAgents(asked: boolean | undefined): boolean;
  /** Begins to shut down. */
  stop(how: { leaveAgents: boolean }): void;
  /** Starts the installed daemon in the place of this one. Throws `supervised`, `restart_failed`. */
  restart(): Promise<{ pid: number }>;
}

/** Access to the dashboard. */
export interface WebDoor {
  /** The loopback port, if it is open. */
  readonly port: number | undefined;
  /** Throws `not_found` if the dashboard was not built. */
  files(): WebFiles;
  /** Creates a one-time link; opens the loopback port first (at `port`) if none is open. */
  link(port?: number): Promise<WebLink>;
  /** Exchanges a link's ticket for the API token. Throws `unauthorized`, `too_many_tries`. */
  enter(ticket: string): Promise<string>;
}

export interface HttpLimits {
  maxBodyBytes: number;
  /** A stream with more bytes waiting is fed later. */
  outboxBytes: number;
  /** A client that reads nothing for this long is dropped. */
  slowConsumerMs: number;
  /** Concurrent event streams. */
  maxStreams: number;
  maxConnections: number;
  /** Timeouts for the head of a request and for all of it. */
  headersTimeoutMs: number;
  requestTimeoutMs: number;
  /** How often timeouts and slow clients are checked. */
  checkEveryMs: number;
  /** Interval of keep-alive comments on idle streams. */
  heartbeatMs: number;
  /** File of the bearer token. */
  tokenFile: string;
}

/** Limits that have no config key. */
export const HTTP_DEFAULTS = {
  maxStreams: 256,
  headersTimeoutMs: 5_000,
  requestTimeoutMs: 15_000,
  checkEveryMs: 1_000,
  heartbeatMs: 15_000,
} as const;

/** Where a request arrives, which decides the access rules. `tcp` is always the loopback interface. */
export type Place = { kind: "unix" } | { kind: "tcp"; port: number };
