#!/usr/bin/env node
// Starts sm.
import { fileURLToPath } from "node:url";
import { runMain } from "../cli/command.ts";
import { main } from "../cli/sm/main.ts";
import { VERSION } from "../version.ts";

const daemonProgram = fileURLToPath(new URL("./blemeesd.js", import.meta.url));
const demianProgram = fileURLToPath(new URL("./demian.js", import.meta.url));
await runMain("sm", () => main(process.argv.slice(2), { version: VERSION, daemonProgram, demianProgram }));
