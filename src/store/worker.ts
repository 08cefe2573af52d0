// The entry point of the store thread, bundled as dist/store-worker.js: opens the store and answers calls in order.
import { parentPort, workerData } from "node:worker_threads";
import { MemoryReturn } from "../base/memory-return.ts";
import { loadEngine } from "../base/sqlite/database.ts";
import { answer } from "./answer.ts";
import {
  listTransfers,
  type StoreCall,
  type StoreReply,
  type ThreadReady,
  type ThreadStart,
  toFault,
} from "./calls.ts";
import { openDriver } from "./driver.ts";
import type { Recovery, StoreConfig } from "./types.ts";

const port = parentPort;
const RECOVERY_DELAY_MS = 50;
let recoveries: Recovery[] = [];

if (port !== null) void start();

/** Never rejects: a failure is the reply to call 0, or to `open`. */
async function start(): Promise<void> {
  const { store: known } = workerData as ThreadStart;
  const { id, store } = known === undefined ? await untilReleased() : { id: 0, store: known };
  try {
    const onRecovery = (recovery: Recovery) => {
      recoveries.push(recovery);
      // Sent with the next reply, or soon if there is none: the JSONL files are also written between calls.
      if (recoveries.length === 1) setTimeout(sendRecoveries, RECOVERY_DELAY_MS).unref();
    };
    const open = await openDriver(store, { onRecovery, now: Date.now });
    const memory = new MemoryReturn({ release: () => open.driver.shrinkMemory() });
    port?.on("message", (call: StoreCall) => {
      const message = answer(open, call);
      memory.note(open.folder.foldedBytes);
      reply(message, listTransfers(call.op, message.value));
      // Nothing else keeps the thread alive.
      if (call.op !== "close") return;
      memory.close();
      port?.close();
    });
    const value: ThreadReady = { firstJournal: open.folder.nextNumber };
    reply({ id, value });
  } catch (error) {
    reply({ id, fault: toFault(error) });
  }
}

async function untilReleased(): Promise<{ id: number; store: StoreConfig }> {
  const released = new Promise<StoreCall>((resolve) => port?.once("message", resolve));
  // A failure is reported when the database is opened.
  await loadEngine().catch(() => undefined);
  const { id, args } = await released;
  return { id, store: args[0] as StoreConfig };
}

function sendRecoveries(): void {
  if (recoveries.length > 0) reply({ id: -1 });
}

function reply(message: StoreReply, transfer: ArrayBuffer[] = []): void {
  if (recoveries.length > 0) {
    message.recoveries = recoveries;
    recoveries = [];
  }
  port?.postMessage(message, transfer);
}
