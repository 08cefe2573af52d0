#!/usr/bin/env node
// Our own coding agent.
import { start } from "./start.ts";

await start("demian", import.meta.url, () => import("../cli/demian/program.ts"));
