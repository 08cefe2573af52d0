// Builds the sessions: event path, ledger, the table with its two interfaces (hub and manager), families and
// notifications.

import { waitAtMost } from "../base/child.ts";
import type { Metrics } from "../base/metrics.ts";
import { defined } from "../base/values.ts";
import { type FoundGit, keepFoundGit } from "../git/index.ts";
import type { Observer } from "../observe/types.ts";
import type { Budget } from "../protocol/budget.ts";
import type { RequestRow } from "../protocol/requests.ts";
import type { Losses } from "../store/losses.ts";
import { adoptRuns } from "./adopt.ts";
import { Extras, type McpConfig } from "./agent/extras.ts";
import { Audit } from "./audit/audit.ts";
import { Budgets } from "./budget/budgets.ts";
import { createRates, type PriceTable } from "./budget/rates.ts";
import { type CheckpointParts, Checkpoints, toSkippedNotice } from "./checkpoints/checkpoints.ts";
import { Overlaps } from "./checkpoints/overlaps.ts";
import { reportOverlaps } from "./checkpoints/report-overlaps.ts";
import { isAsking } from "./core/state.ts";
import { Family, type FamilyOptions, type FamilyParts } from "./family/family.ts";
import { FileFinder } from "./files/file-finder.ts";
import type { SessionHooks } from "./hooks.ts";
import { type HubOptions, SessionHub } from "./hub.ts";
import { findKeptRuns, NO_RUNS } from "./kept-runs.ts";
import { SessionManager } from "./manager.ts";
import { Notifier, type NotifyParts, type NotifySettings } from "./notify/notify.ts";
import { Policy, type PolicyParts } from "./policy/policy.ts";
import { QuotaDesk, type QuotaSettings } from "./quota/desk.ts";
import { recoverSessions } from "./recover.ts";
import { Ledger } from "./requests/ledger.ts";
import { toAgentCaller } from "./rights/caller.ts";
import { createIdentifier, type IdentifyPeer } from "./rights/from-table.ts";
import { createPublisher } from "./stream/publish.ts";
import type { SessionTable } from "./table.ts";
import { callTool, listTools, NO_MANAGER } from "./tools/call.ts";
import { TranscriptSearch } from "./transcripts/search-index.ts";
import { Transcripts } from "./transcripts/transcripts.ts";
import { Changes } from "./views/changes.ts";
import { declareGauges } from "./views/gauges.ts";
import { Views } from "./views/views.ts";
import { Worktrees, type WorktreesParts } from "./worktrees/worktrees.ts";

/** For agents that do not read, and a message that does not fit into their input. */
const DRAIN_LIMIT_MS = 3_000;

export interface SystemOptions
  extends Omit<
    HubOptions,
    | "publisher"
    | "ledger"
    | "ready"
    | "hooks"
    | "inputChanged"
    | "prepareWorktree"
    | "quota"
    | "ratesOf"
    | "checkSpawn"
    | "extras"
    | "callTool"
  > {
  observer: Observer;
  metrics: Metrics;
  /** Known once the store is open. */
  losses?: () => Losses | undefined;
  /** Where agents that outlive the daemon have their run directories; absent: none do. */
  runsDir?: string | undefined;
  /** How long a request waits before policy answers it; 0 is forever. */
  expiryMs: number;
  /** The rules file and the PATH of agents; absent: every request is asked. */
  policy?: Pick<PolicyParts, "path" | "agentPath"> | undefined;
  /** Where answers and policy changes are recorded; absent: nowhere. */
  auditDir?: string | undefined;
  /** Of agents that report none. */
  prices?: PriceTable | undefined;
  /** MCP servers that sessions may have. */
  mcp?: Readonly<Record<string, McpConfig>> | undefined;
  /** Absent: no session can be spawned in a worktree. */
  worktrees?: Omit<WorktreesParts, "listBusy" | "log" | "findGit"> | undefined;
  /** Absent: the files of turns are not recorded. */
  checkpoints?: Omit<CheckpointParts, "log" | "report" | "changed" | "findGit"> | undefined;
  /** Absent: with the PATH of `env`. */
  findGit?(): Promise<FoundGit>;
  family: FamilyOptions;
  /** Absent: no session waits for a limit. */
  quota?: QuotaSettings | undefined;
  notify: NotifySettings & Pick<NotifyParts, "env" | "identity" | "userAgent">;
}

export interface Sessions {
  hub: SessionHub;
  manager: SessionManager;
  policy: Policy | undefined;
  worktrees: Worktrees | undefined;
  transcripts: Transcripts;
  /** Who a client is, from its process. */
  identify: IdentifyPeer;
  audit: Audit | undefined;
  checkpoints: Checkpoints | undefined;
  /** Rejects if the store cannot be opened. */
  ready: Promise<void>;
  /** What was adopted from an earlier daemon; complete when `ready` is. */
  adopted: { readonly runs: ReadonlySet<string>; readonly sessions: ReadonlySet<string> };
  /** Before the agents are stopped: sends no more notifications and delivers nothing. */
  quiet(): Promise<void>;
  /**
   * Instead of stopping the agents: finishes answers that are being delivered, then ignores whatever the agents and clients
   * do, so that no agent is signalled and nothing is recorded about it. Resolves when everything before that is stored and,
   * unless an agent does not read, written to the agents.
   */
  abandon(): Promise<void>;
  /** Frees what is kept in memory although the store has it too. */
  dropStored(): void;
}

export function createSessions(options: SystemOptions): Sessions {
  const { store, log, observer, metrics } = options;
  const { env, identity, userAgent, ...settings } = options.notify;
  const notifier = new Notifier(settings, { log, metrics, env, identity, userAgent, now: Date.now });
  // The hooks refer to objects that are created below; nothing happens before all exist.
  const hooks: SessionHooks = {
    preparesTurns: (row) => checkpoints?.isWanted(row) === true,
    onTurnStart: (row, turn_id) => checkpoints?.onTurnStart(row, turn_id),
    onTurnEnd: (row, result, goesOn) => {
      if (result.turn_id !== undefined) checkpoints?.onTurnEnd(row, result.turn_id);
      family.onTurnEnd(row, result, goesOn);
      quota.onTurnEnd(row, result);
      notifier.onTurnEnd(row, result, goesOn);
    },
    onInputFailed: (row, message_id, error) => family.onInputFailed(row, message_id, error),
    onRequest: (row, request) => {
      family.onRequest(row, request);
      notifier.onRequest(row, request);
    },
    onRemoved: (row, isAtWork, by) => {
      observer.forget(row.session_id);
      void checkpoints?.remove(row.session_id);
      overlaps.forget(row.session_id);
      changes.markRemoved(row.session_id);
      budgets.onRemoved(row);
      if (isAtWork) void family.onRemoved(row, by);
    },
    onLoaded: (session) => budgets.onLoaded(session),
    onUnloaded: (row, isForgotten) => budgets.onUnloaded(row, isForgotten),
    onChange: (session_id) => {
      budgets.onChange(session_id);
      changes.markChanged(session_id);
      quota.onChange(session_id);
    },
  };
  const requestChanged = (request: RequestRow) => {
    observer.request(request);
    changes.reportRequest(request);
    const row = hub.table.row(request.session_id);
    if (request.status !== "pending") {
      family.onSettled(request);
      notifier.onSettled(request);
    } else if (row !== undefined) hooks.onRequest(row, request);
  };
  const losses = defined({ losses: options.losses });
  const publisher = createPublisher(store, log, {
    observer: { frame: (row, frame) => observer.frame(row, frame), request: requestChanged },
    metrics,
    ...losses,
  });
  const audit = options.auditDir === undefined ? undefined : new Audit(options.auditDir, log);
  const policy =
    options.policy === undefined
      ? undefined
      : new Policy({
          ...options.policy,
          store,
          log,
          findSession: (session_id) => hub.table.find(session_id),
          changed: (change, by) => audit?.recordPolicy(change, by),
        });
  const overlaps = new Overlaps();
  const isLive = (session_id: string) => hub.table.live.has(session_id);
  const findGit = options.findGit ?? keepFoundGit(options.env);
  const checkpoints =
    options.checkpoints === undefined
      ? undefined
      : new Checkpoints({
          ...options.checkpoints,
          findGit,
          log,
          report: (session_id, data) => {
            const session = hub.table.live.get(session_id);
            if (session === undefined || session.isClosed || hub.table.isAbandoned) return;
            publisher.publish(session.stream, toSkippedNotice(session.row.backend, data));
            changes.markChanged(session_id);
          },
          changed: (files) =>
            reportOverlaps(overlaps.take(files, isLive), { table: hub.table, publisher, changes }),
        });
  const ledger = new Ledger({ store, publisher, log, expiryMs: options.expiryMs, policy, audit });
  const extras = new Extras({ mcp: options.mcp ?? {}, env: options.notify.env, listTools });
  const adopted = { runs: new Set<string>(), sessions: new Set<string>() };
  const ratesOf = createRates(options.backends, options.prices);
  const recover = { turnEnded: hooks.onTurnEnd, ratesOf, ...losses };
  const recovered = async () => {
    const runs = options.runsDir === undefined ? NO_RUNS : await findKeptRuns(options.runsDir, store, log);
    await recoverSessions(store, publisher, log, { ...recover, kept: runs.sessions });
    await adoptRuns(runs, { ...options, extras, table: hub.table, ledger, publisher, recover, adopted });
    // Clients that waited ask for it at once, and a thread must be started first.
    if (adopted.sessions.size > 0) void observer.warm([...adopted.sessions]);
  };
  const ready = recovered().then(() => {
    for (const request of ledger.pending()) {
      const row = hub.table.row(request.session_id);
      if (row !== undefined) notifier.startReminders(row, request);
    }
  });
  ready.catch(() => undefined); // the waiting caller gets the error
  const checkSpawn = async (parent: string, budget?: Budget) => {
    const checks = [await family.checkSpawn(parent), await budgets.checkSpawn(parent, budget)];
    return () => {
      for (const check of checks) check();
    };
  };
  const hub = new SessionHub({
    ...options,
    publisher,
    ledger,
    ready,
    hooks,
    ratesOf,
    checkSpawn,
    extras,
    // The caller is known by the agent's own channel.
    callTool: async (session_id, call, about) => {
      if (hub.table.row(session_id)?.manager !== true) return NO_MANAGER;
      return callTool(call, { manager: manager.as(toAgentCaller(session_id)), self: session_id, ...about });
    },
    inputChanged: (session_id, input) => changes.reportInput(session_id, input),
    // Created below; no agent reports anything before.
    quota: {
      describe: (row, result) => quota.describe(row, result),
      note: (row, data) => quota.note(row, data),
    },
    prepareWorktree: async (worktree) => worktrees?.prepare(worktree),
  });
  const { table } = hub;
  declareGauges(metrics, { table, ledger, store });
  const quota = new QuotaDesk({
    ...(options.quota ?? { onLimit: "fail", maxWaitMs: 0 }),
    ...{ table, ledger, log },
    changed: (session_id) => changes.markChanged(session_id),
  });
  const budgets = new Budgets({
    ...{ table, ledger, log, ratesOf },
    stopTree: (session_id) => manager.stop(session_id, { tree: true }),
    changed: (session_id) => changes.markChanged(session_id),
  });
  const views = new Views({
    table,
    ledger,
    observer,
    store,
    quota,
    budgets,
    stallMs: options.family.stallMs,
  });
  const changes = new Changes({
    view: (session_id) => views.find(session_id),
    above: (session_id) => views.above(session_id),
    log,
  });
  const family = new Family(
    {
      ...familyParts(table, ledger),
      log,
      metrics,
      lastAction: (session_id) => observer.lastAction(session_id),
      stalled: (row, silentMs) => {
        notifier.onStall(row, silentMs);
        changes.markChanged(row.session_id);
      },
    },
    options.family,
  );
  const worktrees =
    options.worktrees === undefined
      ? undefined
      : new Worktrees({ ...options.worktrees, findGit, log, listBusy: () => listRunningIn(table) });
  const transcripts = new Transcripts(table, options.backends);
  const outside =
    observer.transcripts && new TranscriptSearch({ index: observer.transcripts, transcripts, log });
  const manager = new SessionManager({
    ...{
      table,
      ledger,
      store,
      observer,
      family,
      changes,
      views,
      log,
      rights: hub.rights,
      worktrees,
      transcripts,
      outside,
    },
    ...{ quota, checkpoints, budgets, checkSpawn },
    files: new FileFinder({ env: options.env, findGit }),
    checkNotifyUrl: (url) => void notifier.checkNotifyUrl(url),
    removed: hooks.onRemoved,
  });
  void table.ready.then(
    () => {
      family.startStallChecks();
      return manager.resume().then(() => quota.start());
    },
    () => undefined, // the store did not open; `ready` says so
  );
  const quiet = async (): Promise<void> => {
    table.isQuiet = true;
    ledger.close();
    budgets.close();
    changes.close();
    outside?.close();
    await Promise.all([family.close(), notifier.close(), quota.close()]);
  };
  return {
    hub,
    manager,
    policy,
    worktrees,
    transcripts,
    identify: createIdentifier(table, options.env["BLEMEES_DAEMON_ID"]),
    audit,
    checkpoints,
    ready,
    adopted,
    quiet,
    async abandon() {
      await quiet();
      await Promise.all([...table.live.keys()].map((session_id) => ledger.idle(session_id)));
      table.isAbandoned = true;
      const left = [...table.live.values()].map((session) => session.abandon());
      await Promise.all([publisher.close(), waitAtMost(DRAIN_LIMIT_MS, Promise.all(left))]);
    },
    dropStored() {
      for (const { stream } of table.live.values()) stream.dropStored();
    },
  };
}

function* listRunningIn(table: SessionTable): Iterable<string> {
  for (const { row, isRunning } of table.live.values()) {
    if (isRunning && row.cwd !== undefined) yield row.cwd;
  }
}

function familyParts(
  table: SessionTable,
  ledger: Ledger,
): Omit<FamilyParts, "log" | "metrics" | "lastAction" | "stalled"> {
  return {
    row: (session_id) => table.row(session_id),
    find: (session_id) => table.find(session_id),
    async family(session_id) {
      const { above = [] } = (await table.kin([session_id])).get(session_id) ?? {};
      const stored = await table.select({ family: above.at(-1) ?? session_id });
      return () => table.withLive(stored);
    },
    stored: (session_id) => table.use(session_id, (session) => session.store()),
    update: (session_id, change) =>
      table.use(session_id, (session) => {
        change(session.row);
        return session.store();
      }),
    enqueue: async (session_id, { message, message_id, from, brief }) => {
      const wake = { message, message_id, kind: "wake" as const, ...defined({ from, brief }) };
      await table.use(session_id, (session) => session.enqueue(wake));
    },
    cancelQueued: (session_id, message_id) =>
      table.use(session_id, async (session) => {
        if (!session.queued.some((entry) => entry.message_id === message_id)) return false;
        await session.cancel(message_id);
        return true;
      }),
    isPending: (session_id, request_id) =>
      ledger.listPending(session_id).some((row) => row.request_id === request_id),
    isLoaded: (session_id) => table.live.has(session_id),
    *running() {
      for (const { row, isRunning, last_event_at_ms, state } of table.live.values()) {
        if (isRunning) yield { row, last_event_at_ms, isAsking: isAsking(state) };
      }
    },
    now: Date.now,
  };
}
