#!/usr/bin/env node
// demian under another name.
import { start } from "./start.ts";

await start("demian-cli", import.meta.url, () => import("../cli/demian/program.ts"));
