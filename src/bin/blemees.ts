#!/usr/bin/env node
// All sessions and all commands.
import { start } from "./start.ts";

void start("blemees", import.meta.url, () => import("../cli/blemees/main.ts"));
