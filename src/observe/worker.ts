// The entry point of the observability thread, bundled as dist/observe-worker.js: opens the database and answers calls in
// order.
import { parentPort, workerData } from "node:worker_threads";
import { toMessage } from "../base/coded-error.ts";
import type { MovedAside } from "../base/sqlite/database.ts";
import { EventsDatabase } from "./database.ts";
import type { Retention, Row, RowQuery, StatsOrder } from "./rows.ts";
import type { WorkerCall, WorkerReply, WorkerStart } from "./worker-calls.ts";

const port = parentPort;

if (port !== null) serve();

/** If the database cannot be opened, every call is answered with that fault. */
function serve(): void {
  const { path } = workerData as WorkerStart;
  let asides: MovedAside[] = [];
  const onAside = (aside: MovedAside) => asides.push(aside);
  let last: Promise<unknown> = Promise.resolve();
  let database: EventsDatabase | undefined;
  const take = async (call: WorkerCall): Promise<void> => {
    const reply: WorkerReply = { id: call.id };
    try {
      // A thread without calls has no file to close.
      if (call.op !== "close") database ??= await EventsDatabase.open({ path, now: Date.now, onAside });
      if (database !== undefined) reply.value = await answerWithRepair(database, call);
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
    last = last.then(() => take(call));
  });
}

/** Moves a damaged file aside and repeats the call on the new one. */
async function answerWithRepair(database: EventsDatabase, call: WorkerCall): Promise<unknown> {
  try {
    return answer(database, call);
  } catch (error) {
    if (!(await database.repair(error))) throw error;
    return answer(database, call);
  }
}

function answer(database: EventsDatabase, { op, order }: WorkerCall): unknown {
  switch (op) {
    case "write":
      return database.write(order as Row[]);
    case "page":
      return database.page(order as RowQuery);
    case "newest":
      return database.newest(order as string[]);
    case "stats":
      return database.stats(order as StatsOrder);
    case "prune":
      return database.prune(order as Retention);
    case "close":
      return database.close();
  }
}
