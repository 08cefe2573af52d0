#!/usr/bin/env node
// Starts blemeesctl.
import { main } from "../cli/blemeesctl/main.ts";
import { runMain } from "../cli/command.ts";
import { VERSION } from "../version.ts";

await runMain("blemeesctl", () => main(process.argv.slice(2), VERSION));
