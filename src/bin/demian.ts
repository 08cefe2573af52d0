#!/usr/bin/env node
// Starts demian.
import { runProgram } from "../cli/demian/program.ts";
import { VERSION } from "../version.ts";

await runProgram("demian", VERSION);
