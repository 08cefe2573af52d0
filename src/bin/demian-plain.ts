#!/usr/bin/env node
// demian without its screen.
import { start } from "./start.ts";

void start("demian-plain", import.meta.url, () => import("../cli/demian/program.ts"));
