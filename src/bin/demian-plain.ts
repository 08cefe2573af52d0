#!/usr/bin/env node
// Starts demian-plain: demian with plain text, also where demian has a screen of its own.
import { fileURLToPath } from "node:url";
import { runProgram } from "../cli/demian/program.ts";
import { VERSION } from "../version.ts";

await runProgram("demian-plain", VERSION, fileURLToPath(new URL("./blemeesd.js", import.meta.url)));
