// The thread of observability.db: opens it and answers calls one after another. Bundled as dist/observe-worker.js and
// started by thread.ts; the one file of this folder that runs when it is loaded.
import { parentPort, workerData } from "node:worker_threads";
import { messageOf } from "../base/coded-error.ts";
import type { MovedAside } from "../base/sqlite/database.ts";
import { EventsDatabase } from "./database.ts";
import type { Retention, Row, RowQuery, StatsOrder } from "./rows.ts";
import type { WorkerCall, WorkerReply, WorkerStart } from "./worker-calls.ts";

const port = parentPort;

if (port !== null) serve();

/** Never rejects: while the database cannot be opened, that is the answer to every call. */
function serve(): void {
  const { path } = workerData as WorkerStart;
  let asides: MovedAside[] = [];
  const onAside = (aside: MovedAside) => asides.push(aside);
  let last: Promise<unknown> = Promise.resolve();
  let database: EventsDatabase | undefined;
  const take = async (call: WorkerCall): Promise<void> => {
    const reply: WorkerReply = { id: call.id };
    try {
      // A thread that was never asked anything has no file to close.
      if (call.op !== "close") database ??= await EventsDatabase.open({ path, now: Date.now, onAside });
      if (database !== undefined) reply.value = await answerMending(database, call);
    } catch (error) {
      reply.fault = messageOf(error);
    }
    if (asides.length > 0) {
      reply.asides = asides;
      asides = [];
    }
    port?.postMessage(reply);
    // Nothing keeps the thread alive any more, so it ends by itself.
    if (call.op === "close") port?.close();
  };
  port?.on("message", (call: WorkerCall) => {
    last = last.then(() => take(call));
  });
}

/** A file that turns out to be damaged is put aside, and the call is made again on the new one. */
async function answerMending(database: EventsDatabase, call: WorkerCall): Promise<unknown> {
  try {
    return answer(database, call);
  } catch (error) {
    if (!(await database.mend(error))) throw error;
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
      return database.newest();
    case "stats":
      return database.stats(order as StatsOrder);
    case "prune":
      return database.prune(order as Retention);
    case "close":
      return database.close();
  }
}
