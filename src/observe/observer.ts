// Observes the event path: turns frames and ledger rows into rows, stores them, and remembers each session's last action.

import { dirname, join } from "node:path";
import { toMessage } from "../base/coded-error.ts";
import type { Log } from "../base/log.ts";
import type { Metrics } from "../base/metrics.ts";
import { defined } from "../base/values.ts";
import type { Action } from "../protocol/actions.ts";
import type { RequestRow } from "../protocol/requests.ts";
import type { SessionRow } from "../protocol/session.ts";
import { chooseLast, toAction, toActions } from "./actions.ts";
import { DiskRows, type DiskTimes, TIMES } from "./disk-rows.ts";
import { limitRow } from "./excerpt.ts";
import { EXPORTER_TIMES, Exporter, type ExporterTimes } from "./export/exporter.ts";
import type { ExportOrder } from "./export/post.ts";
import { MemoryRows } from "./memory-rows.ts";
import { flushHeld, isObserved, observe } from "./reduce.ts";
import { observeRequest } from "./requests.ts";
import { RestingThread } from "./resting-thread.ts";
import type { EventRow, Retention, Row, Rows } from "./rows.ts";
import { isSearched } from "./search/frame-text.ts";
import { INDEXER_TIMES, Indexer, type IndexerTimes } from "./search/indexer.ts";
import type { History } from "./search/types.ts";
import { createState, isIdle, type ObservedSession, type SessionState } from "./state.ts";
import type { Observer, RowsFilter } from "./types.ts";

/** A frame that waits to be observed. */
interface Seen {
  session: ObservedSession;
  frame: object;
  atMs: number;
}

export interface ObserverOptions {
  /** The database. Absent: the newest few thousand rows are kept in memory. */
  path?: string;
  /** What is searched, with its index next to the database. Absent: nothing is. */
  history?: History;
  /** The bundle of worker.ts. */
  workerUrl: URL;
  log: Log;
  metrics: Metrics;
  retention: Retention;
  /** A backend's name for session managers, which can depend on its transport. */
  provider?: (backend: string) => string;
  /** Whether what a backend reports as input tokens includes those read from the cache. */
  inputHasCached?: (backend: string) => boolean;
  now?: () => number;
  /** The collector of traces. Absent: none. */
  traces?: Pick<ExportOrder, "url" | "headers" | "version" | "hasContent" | "providers">;
  times?: Partial<DiskTimes & IndexerTimes & ExporterTimes>;
  maxWaiting?: number;
}

/** Frames wait this long, or until something is asked: the path of events does no work for rows. */
const SETTLE_MS = 20;
/** Above this many, they are observed at once. */
const MAX_SEEN = 256;
/** One row each, of the sessions that acted last. */
const MAX_LAST = 10_000;
const MAX_STATES = 5_000;
/** Rows read per action: a call has two rows, or a few more. */
const ROWS_PER_ACTION = 4;
const MIN_PAGE = 100;

export function createObserver(options: ObserverOptions): Observer {
  const { path, log, metrics, now = Date.now } = options;
  const { rows, thread, indexer, exporter } = openRows(options);
  const states = new Map<string, SessionState>();
  /** Turned into an action on demand. */
  const lasts = new Map<string, EventRow>();
  const faults = metrics.counter("blemees_observe_faults_total", "Frames that could not be observed.");
  /** Sessions whose stored rows were looked for: they are in `lasts`, there are none, or they are stale. */
  const looked = new Map<string, Promise<void>>();
  /** Frames not yet observed, oldest first. */
  let seen: Seen[] = [];
  let settling: NodeJS.Timeout | undefined;
  let isClosed = false;

  function getState(session: { session_id: string; backend: string }): SessionState {
    let state = states.get(session.session_id);
    if (state === undefined) {
      state = createState(
        session,
        options.provider?.(session.backend),
        options.inputHasCached?.(session.backend),
      );
      states.set(session.session_id, state);
      // A command that never ends keeps its session's state; drop the oldest.
      const [oldest] = states.keys();
      if (states.size > MAX_STATES && oldest !== undefined) states.delete(oldest);
    }
    return state;
  }

  function keep(made: readonly Row[]): void {
    for (const row of made.map(limitRow)) {
      rows.add(row);
      if (row.kind === "tool" || row.kind === "turn") noteLast(row);
    }
  }

  function noteLast(row: EventRow): void {
    const { session_id } = row.row;
    const next = chooseLast(lasts.get(session_id), row);
    lasts.delete(session_id);
    lasts.set(session_id, next);
    const [oldest] = lasts.keys();
    if (lasts.size > MAX_LAST && oldest !== undefined) lasts.delete(oldest);
  }

  /** A faulty frame must not affect the session. */
  function observeSafely(
    session: { session_id: string; backend: string },
    make: (state: SessionState) => Row[],
  ) {
    if (isClosed) return;
    try {
      const state = getState(session);
      keep(make(state));
      if (isIdle(state)) states.delete(session.session_id);
    } catch (error) {
      faults.add();
      log.error("observe.failed", { session_id: session.session_id, message: toMessage(error) });
    }
  }

  function observeSeen(): void {
    if (seen.length === 0) return;
    clearTimeout(settling);
    settling = undefined;
    const frames = seen;
    seen = [];
    for (const { session, frame, atMs } of frames) {
      observeSafely(session, (state) => observe(state, session, frame, atMs));
    }
  }

  /** Loads the last actions that earlier daemons saw, once each; retried if the database cannot be read. */
  async function warm(session_ids: readonly string[]): Promise<void> {
    if (path === undefined || isClosed) return;
    const wanted = session_ids.filter((id) => !lasts.has(id)).slice(0, MAX_LAST);
    const unknown = wanted.filter((id) => !looked.has(id));
    if (looked.size + unknown.length > 2 * MAX_LAST) looked.clear();
    if (unknown.length > 0) {
      const reading = rows.newest(unknown).then(
        (found) => {
          for (const newest of found) keepStored(newest, reading);
        },
        () => {
          for (const id of unknown) looked.delete(id); // already reported
        },
      );
      for (const id of unknown) looked.set(id, reading);
    }
    await Promise.all(new Set(wanted.map((id) => looked.get(id))));
  }

  /** Unless it was forgotten or has acted since. */
  function keepStored(newest: readonly EventRow[], reading: Promise<void>): void {
    const session_id = newest[0]?.row.session_id;
    if (session_id === undefined || lasts.has(session_id) || looked.get(session_id) !== reading) return;
    for (const row of newest) noteLast(row);
  }

  // Lists of sessions ask for all of them repeatedly.
  const projections = new WeakMap<EventRow, Action>();
  function getAction(row: EventRow): Action {
    const action = projections.get(row) ?? toAction(row);
    projections.set(row, action);
    return action;
  }

  return {
    frame(session: SessionRow, frame: object) {
      // Checked first: nine of ten frames are deltas.
      const { type } = frame as { type?: unknown };
      if (type === "agent.delta" || isClosed) return;
      if (isSearched(frame)) indexer?.note(session.session_id, session);
      if (!isObserved(type)) return;
      const { session_id, backend, native_session_id, cwd, project, worktree, turn } = session;
      const { root, parent, model } = session;
      // The row as it is now: its turn may end before this is looked at.
      seen.push({
        session: {
          ...{ session_id, backend, native_session_id, cwd, project, worktree, turn },
          ...{ root, parent, model },
        },
        frame,
        atMs: now(),
      });
      if (seen.length > MAX_SEEN) observeSeen();
      else settling ??= setTimeout(observeSeen, SETTLE_MS).unref();
    },
    request(row: RequestRow) {
      observeSeen();
      observeSafely(row, (state) => observeRequest(state, row, now()));
    },
    recall(session, past) {
      observeSeen();
      observeSafely(session, (state) => {
        if ("frame" in past) observe(state, session, past.frame, now());
        else observeRequest(state, past.request, now());
        return [];
      });
    },
    warm,
    lastAction(session_id) {
      observeSeen();
      const last = lasts.get(session_id);
      return last === undefined ? undefined : getAction(last);
    },
    actions(filter) {
      observeSeen();
      return readActions(rows, filter);
    },
    toolEvents: async (filter) => {
      observeSeen();
      const page = await rows.page({ ...filter, kind: "tool" });
      return page.flatMap((found) => (found.kind === "tool" ? [found.row] : []));
    },
    turnEvents: async (filter) => {
      observeSeen();
      const page = await rows.page({ ...filter, kind: "turn" });
      return page.flatMap((found) => (found.kind === "turn" ? [found.row] : []));
    },
    stats(query) {
      observeSeen();
      return rows.stats(query);
    },
    usage(query) {
      observeSeen();
      return rows.usage(query);
    },
    ...(indexer && {
      findTexts: async (order) => ({ found: await indexer.find(order), unindexed: indexer.unindexed }),
      transcripts: indexer.transcripts,
    }),
    historyPruned() {
      if (!isClosed) void indexer?.sweep();
    },
    forget(session_id) {
      observeSeen();
      indexer?.forget(session_id);
      states.delete(session_id);
      lasts.delete(session_id);
      looked.set(session_id, Promise.resolve()); // rows still in the database are stale
      rows.add({ kind: "forget", row: { session_id } });
    },
    async close() {
      observeSeen();
      if (!isClosed) for (const state of states.values()) keep(flushHeld(state, now()));
      isClosed = true;
      exporter?.close();
      await Promise.all([rows.close(), indexer?.close()]);
      await thread?.close();
    },
  };
}

interface Opened {
  rows: Rows;
  thread?: RestingThread;
  indexer?: Indexer;
  exporter?: Exporter;
}

/** Spans per request, and how long the collector may take. */
const MAX_SPANS = 500;
const POST_LIMIT_MS = 10_000;

function openExporter(options: ObserverOptions, thread: RestingThread): Exporter | undefined {
  const { traces, log, metrics } = options;
  if (traces === undefined) return undefined;
  const order = { ...traces, limit: MAX_SPANS, timeoutMs: POST_LIMIT_MS };
  return new Exporter({ thread, order, log, metrics, times: { ...EXPORTER_TIMES, ...options.times } });
}

function openRows(options: ObserverOptions): Opened {
  const { path, history, log, metrics, workerUrl } = options;
  if (path === undefined) return { rows: new MemoryRows() };
  const times = { ...TIMES, ...INDEXER_TIMES, ...options.times };
  const searchPath = join(dirname(path), "search.db");
  const thread = new RestingThread({ path, searchPath, workerUrl, log, metrics, times });
  const exporter = openExporter(options, thread);
  const rows = new DiskRows({ ...options, path, thread, times, written: () => exporter?.note() });
  exporter?.start();
  const opened = { rows, thread, ...defined({ exporter }) };
  if (history === undefined) return opened;
  return { ...opened, indexer: new Indexer({ path: searchPath, history, thread, log, metrics, times }) };
}

/** Reads pages until there are enough actions; several rows may be one action. */
async function readActions(rows: Rows, { session_id, limit }: RowsFilter): Promise<Action[]> {
  const actions: Action[] = [];
  const seen = new Set<string>();
  const session = defined({ session_id });
  let pageSize = Math.max(MIN_PAGE, limit * ROWS_PER_ACTION);
  let before: number | undefined;
  while (actions.length < limit) {
    const page = await rows.page({
      limit: pageSize,
      ...session,
      ...defined({ before }),
    });
    actions.push(...toActions(page, seen));
    const last = page.at(-1);
    if (page.length < pageSize || last === undefined) break;
    if (last.id !== undefined) before = last.id;
    else {
      // These rows are still in memory and have no id to continue from: read again, with a larger page.
      pageSize *= 4;
      actions.length = 0;
      seen.clear();
    }
  }
  return actions.slice(0, limit);
}
