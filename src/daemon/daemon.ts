// Wires store, sessions, agents and listeners together. Has no logic of its own.

import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import type { Worker } from "node:worker_threads";
import { createBackends } from "../backends/registry.ts";
import type { Backend } from "../backends/types.ts";
import { waitAtMost } from "../base/child.ts";
import { CodedError, toMessage } from "../base/coded-error.ts";
import type { Log } from "../base/log.ts";
import { MemoryReturn } from "../base/memory-return.ts";
import { createMetrics } from "../base/metrics.ts";
import { listRunDirectories } from "../base/runs/directory.ts";
import { loadSystemCalls } from "../base/runs/system-calls.ts";
import { defined } from "../base/values.ts";
import { keepFoundGit } from "../git/index.ts";
import { createObserver } from "../observe/index.ts";
import type { DaemonFacts } from "../servers/types.ts";
import { createSessions, drain, type Sessions } from "../sessions/index.ts";
import { createLateStore, type Losses, openLosses } from "../store/index.ts";
import { withAgentTools } from "./agent-tools.ts";
import type { HttpAddress } from "./banner.ts";
import type { Config } from "./config.ts";
import { type Detection, detectBackends } from "./detect.ts";
import { startHousekeeping } from "./housekeeping.ts";
import { keepVersions, readVersions, type Versions } from "./kept-versions.ts";
import { findLog } from "./log-place.ts";
import { checkStorePlace, isDurable, openStore, prepareStore } from "./open-store.ts";
import { optimizeSooner } from "./optimize-sooner.ts";
import { createIdentity } from "./orphans.ts";
import { getRunsDir } from "./places.ts";
import { findSupervisor } from "./supervisor.ts";
import { describeCollector } from "./traces.ts";
import { openWaysIn } from "./ways-in.ts";

const DAY_MS = 86_400_000;
/** Starting threads and processes takes some milliseconds, during which a waiting client gets its hello. */
const GREETING_MS = 20;
/** HTTP clients wait at most this long for the adoption of agents. */
const ADOPTION_MS = 500;
/** After an adoption, clients that waited for it are answered first. */
const DETECTION_MS = 250;

/** A checkpoint that takes longer is lost. */
const CHECKPOINTS_MS = 2000;

export interface Daemon {
  detection: Detection;
  /** The loopback listener, if requested. */
  http?: HttpAddress;
  /** A one-time link to the dashboard. Never logged. */
  webLink(): Promise<string>;
  /** Rejects if the store cannot be opened; the daemon cannot work then. */
  ready: Promise<void>;
  /**
   * Lets turns finish within the grace time or until `hurry`, then stops everything. With `leaveAgents` it only stops itself:
   * no agent is signalled, and nothing is recorded about it. After a stop of both, the next daemon opens no loopback port by
   * itself; after a crash it does.
   */
  close(hurry: AbortSignal, how: { leaveAgents: boolean; isCrash: boolean }): Promise<void>;
  /** Whether a stop leaves the agents running: as asked, or by the setting. Never if nothing could find them again. */
  leavesAgents(asked?: boolean): boolean;
  /** Kills all agents, without notifying clients. */
  kill(): Promise<void>;
  /** Number of running turns. */
  activeTurns(): number;
}

export interface DaemonParts {
  config: Config;
  version: string;
  log: Log;
  env: NodeJS.ProcessEnv;
  storeWorker: URL;
  observeWorker: URL;
  /** Directory of the programs on every agent's PATH: `sm`. */
  agentTools: URL;
  /** Script of the built-in agent. */
  demian: URL;
  /** Script of `blemees`. */
  blemees: URL;
  /** The dashboard's files. */
  webFiles: URL;
  /** The store's thread, if it was already started. */
  earlyStore?: Worker | undefined;
  /** Replace the daemon that runs on the socket. */
  takeover: boolean;
  /** The command that started it, without the takeover flag. */
  command: readonly string[];
  /** A client asks the daemon to stop. */
  stop(how: { leaveAgents: boolean }): void;
}

export async function startDaemon(parts: DaemonParts): Promise<Daemon> {
  const { config, log, env } = parts;
  // The store opens after the socket is bound: a hello never waits for the disk, and a daemon that cannot bind touches
  // nothing.
  checkStorePlace(config);
  const closing = new AbortController();
  const durable = isDurable(config);
  // Without a history there is nothing that an adopted agent could continue.
  const runsDir = durable && config.agent_stdio === "files" ? getRunsDir(config.state_dir) : undefined;
  // Agents are waiting for this daemon: the store's thread loads its code while the rest is built.
  const mayAdopt = runsDir !== undefined && listRunDirectories(runsDir).length > 0;
  const storeParts = { worker: parts.storeWorker, log, onFolded: (bytes: number) => memory.note(bytes) };
  const prepared = mayAdopt ? prepareStore(config, storeParts, parts.earlyStore) : undefined;
  if (prepared === undefined) void parts.earlyStore?.terminate();
  let losses: Losses | undefined;
  let openStoreNow: () => void = () => undefined;
  const opening = new Promise<void>((resolve) => {
    openStoreNow = resolve;
  }).then(async () => {
    const opened = await openStore(config, { ...storeParts, closing: closing.signal, prepared });
    if (durable) losses = tryOpenLosses(join(config.state_dir, "losses"), log);
    return opened;
  });
  opening.catch(() => undefined); // reported through `ready`
  const store = createLateStore(opening, durable);
  const agentEnv = withAgentTools(env, parts.agentTools);
  const backends = createBackends(config, {
    env: agentEnv,
    log,
    demian: { script: fileURLToPath(parts.demian), version: parts.version },
    runs: runsDir === undefined ? undefined : { root: runsDir, version: parts.version },
  });
  const metrics = createMetrics();
  const observer = createObserver({
    ...(durable ? { path: join(config.state_dir, "observability.db"), history: store } : {}),
    workerUrl: parts.observeWorker,
    provider: (name) => backends.find((backend) => backend.name === name)?.provider ?? name,
    inputHasCached: (name) => backends.some((one) => one.name === name && one.inputHasCached === true),
    log,
    metrics,
    ...defined({ traces: describeCollector(config, env, parts.version) }),
    retention: {
      maxAgeMs: config.observe_retention_days * DAY_MS,
      maxToolRows: config.observe_tool_rows,
      maxTurnRows: config.observe_turn_rows,
      maxUsageAgeMs: config.summary_retention_days * DAY_MS,
    },
  });
  const identity = createIdentity(config.socket_path, `${process.pid}-${Date.now().toString(36)}`);
  const sessions = createSessions({
    ...{ backends, store, log, observer, metrics, runsDir },
    prices: config.prices,
    mcp: config.mcp,
    losses: () => losses,
    limits: {
      maxSessions: config.max_concurrent_sessions,
      maxSessionsPerClient: config.max_sessions_per_connection,
    },
    agentsSee: config.agents_see,
    ringSize: config.ring_buffer_size,
    traceDir: config.trace_dir,
    stderrRate: { lines: config.stderr_rate_lines, windowMs: config.stderr_rate_window_s * 1000 },
    env: config.otel_endpoint === undefined ? identity.env : { ...identity.env, BLEMEES_TRACES: "1" },
    expiryMs: config.request_timeout_s * 1000,
    auditDir: durable ? config.state_dir : undefined,
    findGit: keepFoundGit(env),
    checkpoints: config.checkpoints && durable ? placeCheckpoints(config, env) : undefined,
    quota: {
      onLimit: config.on_limit,
      maxWaitMs: config.quota_wait_s * 1000,
      path: durable ? join(config.state_dir, "quota.json") : undefined,
    },
    policy: { path: config.policy_file, agentPath: agentEnv["PATH"] },
    worktrees: {
      root: config.worktree_dir,
      setUp: readSetUps(config.worktree_setup),
      env: agentEnv,
    },
    family: {
      limits: {
        maxChildren: config.max_children,
        maxDepth: config.max_family_depth,
        maxSize: config.max_family_size,
      },
      stallMs: config.stall_s * 1000,
    },
    notify: {
      command: config.notify_command,
      url: config.notify_url,
      allowUrls: config.notify_allow_urls,
      on: config.notify_on,
      children: config.notify_children,
      remindMs: config.remind_s * 1000,
      env,
      identity: identity.env,
      userAgent: `blemeesd/${parts.version}`,
    },
  });
  const {
    hub,
    manager,
    identify,
    policy,
    worktrees,
    transcripts,
    ready,
    quiet,
    abandon,
    adopted,
    dropStored,
  } = sessions;
  const memory = new MemoryReturn({ release: dropStored, trim: () => loadSystemCalls().trimMemory() });
  const leavesAgents = (asked = config.leave_agents): boolean => asked && runsDir !== undefined;
  const supervisor = findSupervisor(env);
  let detection: Detection | undefined;
  const facts: DaemonFacts = {
    daemon: `blemeesd/${parts.version}`,
    pid: process.pid,
    socket_path: config.socket_path,
    state_dir: config.state_dir,
    log: () => findLog(config, env),
    ...defined({ supervisor }),
    startedAtMs: Date.now(),
    backends: () => detection?.found() ?? {},
    backendStates: () => detection?.state() ?? {},
    detected: () => detection?.known ?? Promise.resolve(),
    config: {
      ring_buffer_size: config.ring_buffer_size,
      event_log_enabled: durable,
      idle_timeout_s: config.idle_timeout_s,
      shutdown_grace_s: config.shutdown_grace_s,
      max_concurrent_sessions: config.max_concurrent_sessions,
      retention_total_bytes: config.retention_total_bytes,
      session_retention_days: config.session_retention_days,
      summary_retention_days: config.summary_retention_days,
      max_line_bytes: config.max_line_bytes,
    },
  };
  const restart = async (): Promise<{ pid: number }> => {
    if (supervisor !== undefined)
      throw new CodedError(
        "supervised",
        `${supervisor.name} runs the daemon; restart it with: ${supervisor.restart}`,
      );
    const { startReplacement } = await import("./replacement.ts");
    const { command } = parts;
    return startReplacement({ command, env, state_dir: config.state_dir, place: facts.log(), log });
  };
  const control = { leavesAgents, stop: parts.stop, restart };
  // As late as possible: the socket is free only for a moment.
  const acp = {
    command: process.execPath,
    args: [fileURLToPath(parts.blemees), "acp", "--no-start", "--socket", config.socket_path],
    env,
  };
  const context = {
    hub,
    manager,
    identify,
    policy,
    worktrees,
    transcripts,
    metrics,
    facts,
    log,
    control,
    acp,
  };
  const open = async () => {
    const before = parts.takeover ? await (await import("./takeover.ts")).takeOver(config) : undefined;
    if (before !== undefined) log.info("daemon.took_over", { ...before });
    // Agents that are running wait for nothing else that takes time.
    const after = mayAdopt
      ? waitAtMost(
          ADOPTION_MS,
          ready.catch(() => undefined),
        )
      : undefined;
    const { webFiles } = parts;
    return openWaysIn(config, context, { webFiles, replacedPort: before?.http_port, after });
  };
  const ways = await open().catch(async (error: unknown) => {
    await prepared?.cancel();
    throw error;
  });
  const { listening, http, webLink, forgetPort } = ways;
  log.info("daemon.start", { socket_path: config.socket_path, pid: process.pid, version: parts.version });
  if (mayAdopt) openStoreNow();
  const greeting = new Promise((resolve) => setTimeout(resolve, GREETING_MS));
  const versionsFile = join(config.state_dir, "backends.json");
  const earlier = durable ? readVersions(versionsFile) : undefined;
  const answered = earlier === undefined ? ready : ready.then(() => delay(DETECTION_MS));
  answered.catch(() => undefined); // reported through `ready`
  detection = detectBackends(backends, {
    log,
    after: mayAdopt ? answered : earlier === undefined ? undefined : greeting,
    earlier,
  });
  if (durable) void keepChanges(detection, earlier, (found) => keepVersions(versionsFile, found, log));
  void greeting.then(openStoreNow);
  // Only once we hold the store: a daemon that is finishing its turns still holds it, and its agents are not orphans.
  const swept = ready.then(
    () => identity.sweep(log, closing.signal, adopted),
    () => undefined,
  );
  void ready.then(optimizeSooner, () => undefined);
  const { checkpoints } = sessions;
  const housekeeping = startHousekeeping({
    ...{ hub, store, config, log, metrics, ready, checkpoints },
    pruned: () => observer.historyPruned(),
  });
  return {
    detection,
    ...defined({ http }),
    webLink,
    ready,
    kill: () => identity.killOwn(),
    activeTurns: () => hub.counts().active_turns,
    leavesAgents,
    close: async (hurry, { leaveAgents, isCrash }) => {
      closing.abort();
      if (!leaveAgents && !isCrash) forgetPort();
      await swept;
      housekeeping.close();
      // Before the clients are dismissed: an owner that disconnects stops its agent.
      if (leaveAgents) await abandon();
      listening.dismiss();
      if (!leaveAgents) await endAgents({ hub, quiet, backends, config, log, hurry });
      if (checkpoints !== undefined) await waitAtMost(CHECKPOINTS_MS, checkpoints.close());
      await Promise.all([store.close(), observer.close()]);
      sessions.audit?.close();
      // Last: the next daemon to bind the socket finds the store free, and no agent of ours unless they are left to it.
      await listening.close();
    },
  };
}

/** `REPOSITORY=COMMAND`, by the repository. */
function readSetUps(entries: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    entries.map((entry) => [entry.slice(0, entry.indexOf("=")), entry.slice(entry.indexOf("=") + 1)]),
  );
}

async function keepChanges(
  detection: Detection,
  earlier: Versions | undefined,
  keep: (found: Versions) => void,
): Promise<void> {
  await detection.done;
  const found = detection.found();
  if (!isDeepStrictEqual(found, earlier)) keep(found);
}

function placeCheckpoints(config: Config, env: NodeJS.ProcessEnv) {
  return {
    root: join(config.state_dir, "checkpoints"),
    hidden: [config.state_dir],
    timeoutMs: config.checkpoint_timeout_ms,
    maxFileBytes: config.checkpoint_file_bytes,
    env,
  };
}

/** Without it, a daemon that dies while its disk is full cannot report what it lost; everything else works. */
function tryOpenLosses(path: string, log: Log): Losses | undefined {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    return openLosses(path);
  } catch (error) {
    log.warn("store.losses_unavailable", { message: toMessage(error) });
    return undefined;
  }
}

interface Running extends Pick<Sessions, "hub" | "quiet"> {
  backends: readonly Backend[];
  config: Config;
  log: Log;
  hurry: AbortSignal;
}

async function endAgents({ hub, quiet, backends, config, log, hurry }: Running): Promise<void> {
  await quiet();
  await drain(hub, config.shutdown_grace_s * 1000, hurry, log);
  // Processes shared by several sessions.
  await Promise.all(backends.map((backend) => backend.close?.()));
}
