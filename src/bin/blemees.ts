#!/usr/bin/env node
// Starts blemees.
import { fileURLToPath } from "node:url";
import { enableCompileCache } from "../base/compile-cache.ts";
import { VERSION } from "../version.ts";

enableCompileCache(process.env);
const { main } = await import("../cli/blemees/main.ts");
const { runMain } = await import("../cli/command.ts");
const daemonProgram = fileURLToPath(new URL("./blemeesd.js", import.meta.url));
const demianProgram = fileURLToPath(new URL("./demian.js", import.meta.url));
await runMain("blemees", () =>
  main(process.argv.slice(2), { version: VERSION, daemonProgram, demianProgram }),
);
