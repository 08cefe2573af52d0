#!/usr/bin/env node
// Starts blemeesctl.
import { enableCompileCache } from "../base/compile-cache.ts";
import { VERSION } from "../version.ts";

enableCompileCache(process.env);
const { main } = await import("../cli/blemeesctl/main.ts");
const { runMain } = await import("../cli/command.ts");
await runMain("blemeesctl", () => main(process.argv.slice(2), VERSION));
