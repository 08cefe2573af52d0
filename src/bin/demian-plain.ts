#!/usr/bin/env node
// Starts demian-plain: demian with plain text, also where demian has a screen of its own.
import { fileURLToPath } from "node:url";
import { enableCompileCache } from "../base/compile-cache.ts";
import { VERSION } from "../version.ts";

enableCompileCache(process.env);
const { runProgram } = await import("../cli/demian/program.ts");
await runProgram("demian-plain", VERSION, fileURLToPath(new URL("./blemeesd.js", import.meta.url)));
