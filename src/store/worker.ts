// The store thread: opens the driver and answers calls one after another. Bundled as dist/store-worker.js and
// started by thread.ts; the one file of this folder that runs when it is loaded.
import { parentPort, workerData } from "node:worker_threads";
import { movable, perform, type StoreCall, type StoreReply, type ThreadStart, toFault } from "./calls.ts";
import { openDriver } from "./driver.ts";
import type { Driver, Recovery } from "./types.ts";

const port = parentPort;
let recoveries: Recovery[] = [];

if (port !== null) void start();

/** Never rejects: what goes wrong is the answer to call 0. */
async function start(): Promise<void> {
  try {
    const { store } = workerData as ThreadStart;
    const onRecovery = (recovery: Recovery) => recoveries.push(recovery);
    const driver = await openDriver(store, { onRecovery, now: Date.now });
    port?.on("message", (call: StoreCall) => answer(driver, call));
    reply({ id: 0 });
  } catch (error) {
    reply({ id: 0, fault: toFault(error) });
  }
}

function answer(driver: Driver, { id, op, args }: StoreCall): void {
  try {
    const value = perform(driver, op, args);
    reply({ id, value }, movable(op, value));
  } catch (error) {
    reply({ id, fault: toFault(error) });
  }
  // Nothing keeps the thread alive any more, so it ends by itself.
  if (op === "close") port?.close();
}

function reply(message: StoreReply, transfer: ArrayBuffer[] = []): void {
  if (recoveries.length > 0) {
    message.recoveries = recoveries;
    recoveries = [];
  }
  port?.postMessage(message, transfer);
}
