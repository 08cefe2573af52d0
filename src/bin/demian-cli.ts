#!/usr/bin/env node
// demian under another name.
import { start } from "./start.ts";

void start("demian-cli", import.meta.url, () => import("../cli/demian/program.ts"));
