#!/usr/bin/env node
// Starts the daemon.
import { enableCompileCache } from "../base/compile-cache.ts";
import { VERSION } from "../version.ts";

enableCompileCache(process.env);
const { main } = await import("../daemon/main.ts");
await main({
  argv: process.argv.slice(2),
  version: VERSION,
  storeWorker: new URL("./store-worker.js", import.meta.url),
  observeWorker: new URL("./observe-worker.js", import.meta.url),
  agentTools: new URL("./agent-tools/", import.meta.url),
  demian: new URL("./demian.js", import.meta.url),
  webFiles: new URL("./web/", import.meta.url),
});
