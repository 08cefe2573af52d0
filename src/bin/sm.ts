#!/usr/bin/env node
// blemees under its short name.
import { start } from "./start.ts";

await start("sm", import.meta.url, () => import("../cli/blemees/main.ts"));
