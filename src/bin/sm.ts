#!/usr/bin/env node
// blemees under its short name.
import { start } from "./start.ts";

void start("sm", import.meta.url, () => import("../cli/blemees/main.ts"));
