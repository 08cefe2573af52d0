// The store thread: opens the driver and answers calls one after another. Bundled as dist/store-worker.js and
// started by thread.ts; the one file of this folder that runs when it is loaded.
import { parentPort, workerData } from "node:worker_threads";
import { answer } from "./answer.ts";
import {
  movable,
  type StoreCall,
  type StoreReply,
  type ThreadReady,
  type ThreadStart,
  toFault,
} from "./calls.ts";
import { openDriver } from "./driver.ts";
import type { Recovery } from "./types.ts";

const port = parentPort;
let recoveries: Recovery[] = [];

if (port !== null) void start();

/** Never rejects: what goes wrong is the answer to call 0. */
async function start(): Promise<void> {
  try {
    const { store } = workerData as ThreadStart;
    const onRecovery = (recovery: Recovery) => recoveries.push(recovery);
    const open = await openDriver(store, { onRecovery, now: Date.now });
    port?.on("message", (call: StoreCall) => {
      const message = answer(open, call);
      reply(message, movable(call.op, message.value));
      // Nothing keeps the thread alive any more, so it ends by itself.
      if (call.op === "close") port?.close();
    });
    const value: ThreadReady = open.folder === undefined ? {} : { firstJournal: open.folder.nextNumber };
    reply({ id: 0, value });
  } catch (error) {
    reply({ id: 0, fault: toFault(error) });
  }
}

function reply(message: StoreReply, transfer: ArrayBuffer[] = []): void {
  if (recoveries.length > 0) {
    message.recoveries = recoveries;
    recoveries = [];
  }
  port?.postMessage(message, transfer);
}
