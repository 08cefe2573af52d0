#!/usr/bin/env node
// demian without its screen.
import { start } from "./start.ts";

await start("demian-plain", import.meta.url, () => import("../cli/demian/program.ts"));
