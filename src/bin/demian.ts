#!/usr/bin/env node
// Our own coding agent.
import { start } from "./start.ts";

void start("demian", import.meta.url, () => import("../cli/demian/program.ts"));
