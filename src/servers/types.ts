// What every way in gets from the daemon, and what it gives back.
import type { Log } from "../base/log.ts";
import type { Hub } from "../sessions/index.ts";

/** Facts about the daemon that replies carry. */
export interface DaemonFacts {
  /** "blemeesd/<version>" */
  daemon: string;
  pid: number;
  socket_path: string;
  startedAtMs: number;
  /** Agents found so far: name → version. */
  backends(): Record<string, string>;
  /** The same, with `detecting` for those that are still being looked for. */
  backendStates(): Record<string, string>;
  /** Resolves when every agent has been looked for. */
  detected(): Promise<void>;
  config: {
    ring_buffer_size: number;
    event_log_enabled: boolean;
    idle_timeout_s: number;
    shutdown_grace_s: number;
    max_concurrent_sessions: number;
    max_line_bytes: number;
  };
}

export interface ServerContext {
  hub: Hub;
  facts: DaemonFacts;
  log: Log;
}

export interface Listening {
  /**
   * Says good-bye on every connection and to everybody who still comes. The way in itself stays taken until
   * `close`, so that no second daemon starts on it while this one finishes its turns.
   */
  dismiss(): void;
  close(): Promise<void>;
}
