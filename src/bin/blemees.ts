#!/usr/bin/env node
// Starts blemees.
import { fileURLToPath } from "node:url";
import { main } from "../cli/blemees/main.ts";
import { runMain } from "../cli/command.ts";
import { VERSION } from "../version.ts";

const daemonProgram = fileURLToPath(new URL("./blemeesd.js", import.meta.url));
const demianProgram = fileURLToPath(new URL("./demian.js", import.meta.url));
await runMain("blemees", () =>
  main(process.argv.slice(2), { version: VERSION, daemonProgram, demianProgram }),
);
