#!/usr/bin/env node
// `blemees claude` as one executable, for programs that take the path of claude.
import { fileURLToPath } from "node:url";
import { start } from "./start.ts";

// The program starts itself again, for example to start the daemon; that must be blemees and not this file.
process.argv.splice(1, 1, fileURLToPath(new URL("./blemees.js", import.meta.url)), "claude");
void start("blemees", import.meta.url, () => import("../cli/blemees/main.ts"));
