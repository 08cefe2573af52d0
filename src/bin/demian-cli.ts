#!/usr/bin/env node
// Starts demian under its other name.
import { fileURLToPath } from "node:url";
import { enableCompileCache } from "../base/compile-cache.ts";
import { VERSION } from "../version.ts";

enableCompileCache(process.env);
const { runProgram } = await import("../cli/demian/program.ts");
await runProgram("demian-cli", VERSION, fileURLToPath(new URL("./blemeesd.js", import.meta.url)));
