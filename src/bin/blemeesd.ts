#!/usr/bin/env node
import { startStoreEarly } from "../daemon/early-store.ts";
// Starts the daemon.
import { VERSION } from "../version.ts";
import { answerVersion } from "./start.ts";

const argv = process.argv.slice(2);
if (!answerVersion("blemeesd", argv)) void startDaemon();

async function startDaemon(): Promise<void> {
  const storeWorker = new URL("./store-worker.js", import.meta.url);
  const earlyStore = startStoreEarly(storeWorker, process.env);
  const { main } = await import("../daemon/main.ts");
  await main({
    argv,
    version: VERSION,
    storeWorker,
    earlyStore,
    observeWorker: new URL("./observe-worker.js", import.meta.url),
    agentTools: new URL("./agent-tools/", import.meta.url),
    demian: new URL("./demian.js", import.meta.url),
    blemees: new URL("./blemees.js", import.meta.url),
    webFiles: new URL("./web/", import.meta.url),
  });
}
