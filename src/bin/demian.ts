#!/usr/bin/env node
// Starts demian.
import { fileURLToPath } from "node:url";
import { runProgram } from "../cli/demian/program.ts";
import { VERSION } from "../version.ts";

await runProgram("demian", VERSION, fileURLToPath(new URL("./blemeesd.js", import.meta.url)));
