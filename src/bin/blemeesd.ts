#!/usr/bin/env node
// Starts the daemon.
import { main } from "../daemon/main.ts";
import { VERSION } from "../version.ts";

await main({
  argv: process.argv.slice(2),
  version: VERSION,
  storeWorker: new URL("./store-worker.js", import.meta.url),
  observeWorker: new URL("./observe-worker.js", import.meta.url),
  agentTools: new URL("./agent-tools/", import.meta.url),
  demian: new URL("./demian.js", import.meta.url),
  webFiles: new URL("./web/", import.meta.url),
});
