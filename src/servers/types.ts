// What every listener gets from the daemon, and its handle.
import type { Log } from "../base/log.ts";
import type { Hub, IdentifyPeer } from "../sessions/index.ts";

/** Facts about the daemon for replies. */
export interface DaemonFacts {
  /** "blemeesd/<version>" */
  daemon: string;
  pid: number;
  socket_path: string;
  state_dir: string;
  log(): LogPlace;
  supervisor?: Supervisor;
  startedAtMs: number;
  /** Agents found so far, or by the last daemon: name → version. */
  backends(): Record<string, string>;
  /** Agents found so far, with `detecting` for those still being detected. */
  backendStates(): Record<string, string>;
  /** Resolves when detection is done, or at once if the last daemon's result is known. */
  detected(): Promise<void>;
  config: {
    ring_buffer_size: number;
    event_log_enabled: boolean;
    idle_timeout_s: number;
    shutdown_grace_s: number;
    max_concurrent_sessions: number;
    max_line_bytes: number;
    retention_total_bytes: number;
    session_retention_days: number;
    summary_retention_days: number;
  };
}

/** Where the daemon's log goes; `path` is absent if the file cannot be named. */
export interface LogPlace {
  to: "file" | "journal" | "stderr";
  path?: string;
}

/** The service manager that runs the daemon, and the commands that restart it and show its log. */
export interface Supervisor {
  name: "systemd" | "launchd";
  restart: string;
  logs?: string;
}

export interface ServerContext {
  hub: Hub;
  /** Who a client is, from its process. */
  identify: IdentifyPeer;
  facts: DaemonFacts;
  log: Log;
}

export interface Listening {
  /**
   * Sends `daemon_shutdown` to all clients, also to new ones. The address stays bound until `close`, so that no second daemon
   * starts on it while this one finishes its turns.
   */
  dismiss(): void;
  close(): Promise<void>;
}
