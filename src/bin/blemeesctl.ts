#!/usr/bin/env node
// `blemees wire` under its old name.
import { start } from "./start.ts";

void start("blemeesctl", import.meta.url, () => import("../cli/wire/main.ts"));
