// Wires the parts together: store, sessions, agents, socket. Nothing is decided here.
import { join } from "node:path";
import { createBackends } from "../backends/registry.ts";
import type { Backend } from "../backends/types.ts";
import type { Log } from "../base/log.ts";
import { listenOnSocket } from "../servers/socket/index.ts";
import type { DaemonFacts, Listening } from "../servers/types.ts";
import { createPublisher, drain, Ledger, recoverSessions, SessionHub } from "../sessions/index.ts";
import { createMemoryStore, lateStore, openThreadStore, type Store } from "../store/index.ts";
import type { Config } from "./config.ts";
import { type Detection, detectBackends } from "./detect.ts";
import { startHousekeeping } from "./housekeeping.ts";
import { createIdentity } from "./orphans.ts";

const OUTBOX_BYTES = 1024 * 1024;
const HELLO_TIMEOUT_MS = 5_000;
/** Starting the store's thread costs some milliseconds, in which a client that waits for us gets its hello. */
const STORE_DELAY_MS = 20;

export interface Daemon {
  detection: Detection;
  /** Rejects when the store cannot be opened; the daemon is of no use then. */
  ready: Promise<void>;
  /** Lets turns finish within the grace time, or until `hurry`, then ends everything. */
  close(hurry: AbortSignal): Promise<void>;
  /** Ends the agents by force, without a word to anybody. */
  kill(): Promise<void>;
  /** Turns that run now. */
  activeTurns(): number;
}

export interface DaemonParts {
  config: Config;
  version: string;
  log: Log;
  env: NodeJS.ProcessEnv;
  storeWorker: URL;
}

export async function startDaemon(parts: DaemonParts): Promise<Daemon> {
  const { config, log, env } = parts;
  // The store opens when the socket is bound: nobody who says hello waits for the disk, and a daemon that may not
  // have the socket touches nothing.
  let bound: () => void = () => undefined;
  const opening = new Promise<void>((resolve) => {
    bound = resolve;
  }).then(() => openStore(parts));
  opening.catch(() => undefined); // reported through `ready`
  const isDurable = config.event_log_dir !== undefined || config.store === "sqlite";
  const store = lateStore(opening, isDurable);
  const publisher = createPublisher(store, log);
  const backends = createBackends(config, env, log);
  const ready = recoverSessions(store, publisher, log);
  ready.catch(() => undefined); // main.ts looks at it
  const identity = createIdentity(config.socket_path, `${process.pid}-${Date.now().toString(36)}`);
  const ledger = new Ledger({ store, publisher, log, expiryMs: config.request_timeout_s * 1000 });
  const hub = new SessionHub({
    backends,
    store,
    publisher,
    ledger,
    log,
    ready,
    limits: {
      maxSessions: config.max_concurrent_sessions,
      maxSessionsPerClient: config.max_sessions_per_connection,
    },
    ringSize: config.ring_buffer_size,
    stderrRate: { lines: config.stderr_rate_lines, windowMs: config.stderr_rate_window_s * 1000 },
    env: identity.env,
  });
  let detection: Detection | undefined;
  const facts: DaemonFacts = {
    daemon: `blemeesd/${parts.version}`,
    pid: process.pid,
    socket_path: config.socket_path,
    startedAtMs: Date.now(),
    backends: () => detection?.found() ?? {},
    detected: () => detection?.done ?? Promise.resolve(),
    config: {
      ring_buffer_size: config.ring_buffer_size,
      event_log_enabled: isDurable,
      idle_timeout_s: config.idle_timeout_s,
      shutdown_grace_s: config.shutdown_grace_s,
      max_concurrent_sessions: config.max_concurrent_sessions,
      max_line_bytes: config.max_line_bytes,
    },
  };
  const listening = await listenOnSocket(
    {
      path: config.socket_path,
      maxConnections: config.max_connections,
      slowConsumerMs: config.slow_consumer_s * 1000,
      maxLineBytes: config.max_line_bytes,
      outboxBytes: OUTBOX_BYTES,
      helloTimeoutMs: HELLO_TIMEOUT_MS,
    },
    { hub, facts, log },
  );
  log.info("daemon.start", { socket_path: config.socket_path, pid: process.pid, version: parts.version });
  detection = detectBackends(backends, log);
  setTimeout(bound, STORE_DELAY_MS);
  // Only once the store is ours: a daemon that still finishes its turns holds it, and its agents are not left over.
  const swept = ready.then(
    () => identity.sweep(log),
    () => undefined,
  );
  const housekeeping = startHousekeeping({ hub, store, config, log, ready });
  return {
    detection,
    ready,
    kill: () => identity.killOwn(),
    activeTurns: () => hub.counts().active_turns,
    close: async (hurry) => {
      await swept;
      await closeAll({ listening, hub, backends, store, config, log, housekeeping, hurry });
    },
  };
}

function openStore(parts: DaemonParts): Promise<Store> {
  const { config, log } = parts;
  const onRecovery = (recovery: object) => log.warn("store.recovered", { ...recovery });
  if (config.event_log_dir !== undefined) {
    return openThreadStore({ kind: "jsonl", path: config.event_log_dir }, parts.storeWorker, { onRecovery });
  }
  if (config.store === "memory") return Promise.resolve(createMemoryStore());
  const path = join(config.state_dir, "blemees.db");
  return openThreadStore({ kind: "sqlite", path }, parts.storeWorker, { onRecovery });
}

interface Open {
  listening: Listening;
  hub: SessionHub;
  backends: readonly Backend[];
  store: Store;
  config: Config;
  log: Log;
  housekeeping: { close(): void };
  hurry: AbortSignal;
}

async function closeAll(open: Open): Promise<void> {
  open.housekeeping.close();
  open.listening.dismiss();
  open.hub.ledger.close();
  await drain(open.hub, open.config.shutdown_grace_s * 1000, open.hurry, open.log);
  // Processes that several sessions shared.
  await Promise.all(open.backends.map((backend) => backend.close?.()));
  await open.store.close();
  // Last (spec §9.5): whoever binds it next finds the store free and no agent of ours.
  await open.listening.close();
}
