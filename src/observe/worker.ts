// The entry point of the observability thread, bundled as dist/observe-worker.js: opens the databases when they are needed
// and answers calls in order.
import { parentPort, workerData } from "node:worker_threads";
import { toMessage } from "../base/coded-error.ts";
import type { MovedAside } from "../base/sqlite/database.ts";
import { EventsDatabase } from "./database.ts";
import { type Exported, type ExportOrder, postSpans } from "./export/post.ts";
import type { Retention, Row, RowQuery, StatsOrder, UsageOrder } from "./rows.ts";
import { SearchDatabase } from "./search/database.ts";
import type { FindOrder, IndexOrder, TranscriptOrder } from "./search/types.ts";
import type { Op, WorkerCall, WorkerReply, WorkerStart } from "./worker-calls.ts";

const port = parentPort;

if (port !== null) serve();

interface Repairable {
  repair(error: unknown): Promise<boolean>;
}

const SEARCH_OPS: ReadonlySet<Op> = new Set<Op>([
  "index",
  "find",
  "positions",
  "index_transcript",
  "transcripts",
  "remove",
  "tidy",
]);

/** If a database cannot be opened, every call about it is answered with that fault. */
function serve(): void {
  const { path, searchPath } = workerData as WorkerStart;
  let asides: MovedAside[] = [];
  const onAside = (aside: MovedAside) => asides.push(aside);
  let last: Promise<unknown> = Promise.resolve();
  let events: EventsDatabase | undefined;
  let search: SearchDatabase | undefined;
  const answer = async ({ op, order }: WorkerCall): Promise<unknown> => {
    // A thread without calls has no file to close.
    if (op === "close") {
      events?.close();
      search?.close();
      return undefined;
    }
    if (SEARCH_OPS.has(op)) {
      search ??= await SearchDatabase.open({ path: searchPath, now: Date.now });
      return answerWithRepair(search, (database) => answerSearch(database, op, order));
    }
    events ??= await EventsDatabase.open({ path, now: Date.now, onAside });
    return answerWithRepair(events, (database) => answerEvents(database, op, order));
  };
  const closing = new AbortController();
  /** Reads and marks in order; other calls are answered while the collector takes its time. */
  const send = async ({ id, order }: WorkerCall): Promise<void> => {
    const wanted = order as ExportOrder;
    try {
      const batch = await inOrder(() => withEvents((database) => database.unsent(wanted.limit)));
      if (batch.rows.length > 0) await postSpans(wanted, batch, closing.signal);
      await inOrder(() => withEvents((database) => database.markSent(batch.cursor)));
      const value: Exported = { spans: batch.rows.length, hasMore: batch.hasMore };
      port?.postMessage({ id, value } satisfies WorkerReply);
    } catch (error) {
      port?.postMessage({ id, fault: toMessage(error) } satisfies WorkerReply);
    }
  };
  const withEvents = async <T>(use: (database: EventsDatabase) => T): Promise<T> => {
    if (closing.signal.aborted) throw new Error("the thread is stopping");
    events ??= await EventsDatabase.open({ path, now: Date.now, onAside });
    return use(events);
  };
  const inOrder = <T>(run: () => Promise<T>): Promise<T> => {
    const made = last.then(run);
    last = made.catch(() => undefined);
    return made;
  };
  const take = async (call: WorkerCall): Promise<void> => {
    const reply: WorkerReply = { id: call.id };
    try {
      reply.value = await answer(call);
    } catch (error) {
      reply.fault = toMessage(error);
    }
    if (asides.length > 0) {
      reply.asides = asides;
      asides = [];
    }
    port?.postMessage(reply);
    // Nothing else keeps the thread alive.
    if (call.op === "close") port?.close();
  };
  port?.on("message", (call: WorkerCall) => {
    if (call.op === "export") {
      void send(call);
      return;
    }
    if (call.op === "close") closing.abort();
    last = last.then(() => take(call));
  });
}

/** Replaces a damaged file and repeats the call on the new one. */
async function answerWithRepair<T extends Repairable>(
  database: T,
  answer: (database: T) => unknown,
): Promise<unknown> {
  try {
    return answer(database);
  } catch (error) {
    if (!(await database.repair(error))) throw error;
    return answer(database);
  }
}

function answerEvents(database: EventsDatabase, op: Op, order: unknown): unknown {
  switch (op) {
    case "write":
      return database.write(order as Row[]);
    case "page":
      return database.page(order as RowQuery);
    case "newest":
      return database.newest(order as string[]);
    case "stats":
      return database.stats(order as StatsOrder);
    case "usage":
      return database.usage(order as UsageOrder);
    case "prune":
      return database.prune(order as Retention);
  }
}

function answerSearch(database: SearchDatabase, op: Op, order: unknown): unknown {
  switch (op) {
    case "index":
      return database.index(order as IndexOrder);
    case "find":
      return database.find(order as FindOrder);
    case "positions":
      return database.positions();
    case "index_transcript":
      return database.indexTranscript(order as TranscriptOrder);
    case "transcripts":
      return database.transcripts();
    case "remove":
      return database.remove(order as { session_id: string; before_seq?: number });
    case "tidy":
      return database.tidy();
  }
}
