// Periodic work of the daemon: unloading sessions without an owner, pruning old events.

import { toMessage } from "../base/coded-error.ts";
import { measureEntries } from "../base/disk-use.ts";
import type { Log } from "../base/log.ts";
import type { Counter, Metrics } from "../base/metrics.ts";
import type { Checkpoints, SessionHub } from "../sessions/index.ts";
import type { Store } from "../store/index.ts";
import type { Config } from "./config.ts";

const REAP_MS = 30_000;
const PRUNE_MS = 3_600_000;
/** Not at once: clients of a daemon that starts come first. */
const FIRST_PRUNE_MS = 5_000;
const DAY_MS = 86_400_000;

export interface Housekeeping {
  hub: SessionHub;
  store: Store;
  config: Config;
  log: Log;
  metrics: Metrics;
  ready: Promise<void>;
  checkpoints?: Checkpoints | undefined;
  firstPruneMs?: number;
  /** Old frames were removed. */
  pruned?(): void;
}

export function startHousekeeping(parts: Housekeeping): { close(): void } {
  const { hub, config, log } = parts;
  const idleMs = config.idle_timeout_s * 1000;
  const reap = () => {
    hub
      .reap(idleMs, Date.now())
      .catch((error: unknown) => log.error("session.reap_failed", { message: toMessage(error) }));
  };
  const pruned = parts.metrics.counter(
    "blemees_events_pruned_total",
    "Frames removed by retention: by the limits of one session, or by the total.",
  );
  for (const reason of ["session", "total"]) pruned.add(0, { reason });
  const timers = [
    // Short idle times (tests, kiosks) are honored; by default this runs every 30 s.
    setInterval(reap, Math.max(100, Math.min(REAP_MS, idleMs))),
    setInterval(() => void prune(parts, pruned), PRUNE_MS),
  ];
  const firstPrune = () =>
    void parts.ready.then(
      () => prune(parts, pruned),
      () => undefined, // the store did not open; main.ts reports it and exits
    );
  timers.push(setTimeout(firstPrune, parts.firstPruneMs ?? FIRST_PRUNE_MS));
  for (const timer of timers) timer.unref();
  return {
    close: () => {
      for (const timer of timers) clearInterval(timer);
    },
  };
}

/** The database of the history, its journals and marks; the store counts their events. */
const HISTORY = /^blemees\./;

/** What the total limit leaves for the history; 0: no limit. Everything else in the state directory counts too. */
async function computeHistoryLimit(
  { retention_total_bytes: total, state_dir }: Config,
  log: Log,
): Promise<number> {
  if (total === 0) return 0;
  const others = (await measureEntries(state_dir)).filter(({ name }) => !HISTORY.test(name));
  const bytes = others.reduce((sum, entry) => sum + entry.bytes, 0);
  // The history must not vanish because something else, such as a log, has grown.
  const least = Math.ceil(total / 2);
  if (total - bytes < least)
    log.warn("disk.over_total", { bytes, largest: others[0]?.name, retention_total_bytes: total });
  return Math.max(total - bytes, least);
}

async function prune(parts: Housekeeping, pruned: Counter): Promise<void> {
  const { store, config, log, checkpoints } = parts;
  try {
    await checkpoints?.prune(
      async (ids) => {
        const rows = await store.rows({ ids: [...ids] });
        return new Set(rows.map(({ session_id }) => session_id));
      },
      config.session_retention_days * DAY_MS || Number.POSITIVE_INFINITY,
    );
    const counts = await store.prune({
      maxAgeMs: config.session_retention_days * DAY_MS,
      maxRowsPerSession: config.retention_rows_per_session,
      maxBytesPerSession: config.retention_bytes_per_session,
      maxTotalBytes: await computeHistoryLimit(config, log),
    });
    pruned.add(counts.events - counts.over_total, { reason: "session" });
    pruned.add(counts.over_total, { reason: "total" });
    log.info("store.pruned", { ...counts });
    if (counts.events > 0) parts.pruned?.();
    if (counts.over_total > 0) {
      const { retention_total_bytes } = config;
      log.warn("store.over_total", { events: counts.over_total, retention_total_bytes });
    }
  } catch (error) {
    log.error("store.prune_failed", { message: toMessage(error) });
  }
}
