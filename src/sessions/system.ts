// Puts the parts of the sessions together: the path of events, the ledger, the table with its two faces (the socket's
// hub, the manager), families and notifications. What each does is in its own file.
import type { Metrics } from "../base/metrics.ts";
import type { Observer } from "../observe/types.ts";
import type { RequestRow } from "../protocol/requests.ts";
import type { Losses } from "../store/losses.ts";
import { Family, type FamilyOptions, type FamilyParts } from "./family/family.ts";
import type { SessionHooks } from "./hooks.ts";
import { type HubOptions, SessionHub } from "./hub.ts";
import { SessionManager } from "./manager.ts";
import { Notifier, type NotifyParts, type NotifySettings } from "./notify/notify.ts";
import { recoverSessions } from "./recover.ts";
import { Ledger } from "./requests/ledger.ts";
import { createPublisher } from "./stream/publish.ts";
import type { SessionTable } from "./table.ts";
import { Changes } from "./views/changes.ts";
import { declareGauges } from "./views/gauges.ts";
import { Views } from "./views/views.ts";

export interface SystemOptions
  extends Omit<HubOptions, "publisher" | "ledger" | "ready" | "hooks" | "inputChanged"> {
  observer: Observer;
  metrics: Metrics;
  /** Known when the store is open. */
  losses?: () => Losses | undefined;
  /** How long a request waits before policy answers it; 0 is for ever. */
  expiryMs: number;
  family: FamilyOptions;
  notify: NotifySettings & Pick<NotifyParts, "env" | "identity" | "userAgent">;
}

export interface Sessions {
  hub: SessionHub;
  manager: SessionManager;
  /** Rejects when the store cannot be opened. */
  ready: Promise<void>;
  /** Before the agents are ended: nobody is told of that, and nothing is delivered any more. */
  quiet(): Promise<void>;
}

export function createSessions(options: SystemOptions): Sessions {
  const { store, log, observer, metrics } = options;
  const { env, identity, userAgent, ...settings } = options.notify;
  const notifier = new Notifier(settings, { log, metrics, env, identity, userAgent, now: Date.now });
  // The hooks reach back to what is made behind them; nothing happens before all of it is there.
  const hooks: SessionHooks = {
    turnEnded: (row, result, goesOn) => {
      family.turnEnded(row, result, goesOn);
      notifier.turnEnded(row, result, goesOn);
    },
    inputFailed: (row, message_id, error) => family.inputFailed(row, message_id, error),
    asked: (row, request) => {
      family.asked(row, request);
      notifier.asked(row, request);
    },
    removed: (row, isAtWork, by) => {
      observer.forget(row.session_id);
      changes.removed(row.session_id);
      if (isAtWork) void family.removed(row, by);
    },
    changed: (session_id) => changes.changed(session_id),
  };
  const requestChanged = (request: RequestRow) => {
    observer.request(request);
    changes.request(request);
    const row = hub.table.row(request.session_id);
    if (request.status !== "pending") family.settled(request);
    else if (row !== undefined) hooks.asked(row, request);
  };
  const losses = options.losses === undefined ? {} : { losses: options.losses };
  const publisher = createPublisher(store, log, {
    observer: { frame: (row, frame) => observer.frame(row, frame), request: requestChanged },
    metrics,
    ...losses,
  });
  const ledger = new Ledger({ store, publisher, log, expiryMs: options.expiryMs });
  const ready = recoverSessions(store, publisher, log, { turnEnded: hooks.turnEnded, ...losses });
  ready.catch(() => undefined); // whoever waits for it hears of it
  const hub = new SessionHub({
    ...options,
    publisher,
    ledger,
    ready,
    hooks,
    inputChanged: (session_id, input) => changes.queue(session_id, input),
  });
  const { table } = hub;
  declareGauges(metrics, table, ledger);
  const views = new Views({ table, ledger, observer, stallMs: options.family.stallMs });
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
        notifier.stalled(row, silentMs);
        changes.changed(row.session_id);
      },
    },
    options.family,
  );
  const manager = new SessionManager({
    ...{ table, ledger, store, observer, family, changes, views, log },
    checkNotifyUrl: (url) => void notifier.checkNotifyUrl(url),
    removed: hooks.removed,
  });
  void table.ready.then(
    () => {
      family.startStallChecks();
      return manager.resume();
    },
    () => undefined, // the store did not open; `ready` says so
  );
  return {
    hub,
    manager,
    ready,
    async quiet() {
      table.isQuiet = true;
      ledger.close();
      changes.close();
      await Promise.all([family.close(), notifier.close()]);
    },
  };
}

function familyParts(
  table: SessionTable,
  ledger: Ledger,
): Omit<FamilyParts, "log" | "metrics" | "lastAction" | "stalled"> {
  return {
    row: (session_id) => table.row(session_id),
    rows: () => table.rows(),
    stored: (session_id) => table.use(session_id, (session) => session.store()),
    update: (session_id, change) =>
      table.use(session_id, (session) => {
        change(session.row);
        return session.store();
      }),
    enqueue: async (session_id, { message, message_id, from }) => {
      const wake = { message, message_id, kind: "wake" as const, ...(from === undefined ? {} : { from }) };
      await table.use(session_id, (session) => session.enqueue(wake));
    },
    cancelQueued: (session_id, message_id) =>
      table.use(session_id, async (session) => {
        if (!session.queued.some((entry) => entry.message_id === message_id)) return false;
        await session.cancel(message_id);
        return true;
      }),
    isPending: (session_id, request_id) =>
      ledger.pendingOf(session_id).some((row) => row.request_id === request_id),
    *running() {
      for (const { row, isRunning, last_event_at_ms, isAsking } of table.live.values()) {
        if (isRunning) yield { row, last_event_at_ms, isAsking };
      }
    },
    now: Date.now,
  };
}
