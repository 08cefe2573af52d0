#!/usr/bin/env node
// Starts sm.
import { fileURLToPath } from "node:url";
import { enableCompileCache } from "../base/compile-cache.ts";
import { VERSION } from "../version.ts";

enableCompileCache(process.env);
const { runMain } = await import("../cli/command.ts");
const { main } = await import("../cli/sm/main.ts");
const daemonProgram = fileURLToPath(new URL("./blemeesd.js", import.meta.url));
const demianProgram = fileURLToPath(new URL("./demian.js", import.meta.url));
await runMain("sm", () => main(process.argv.slice(2), { version: VERSION, daemonProgram, demianProgram }));
