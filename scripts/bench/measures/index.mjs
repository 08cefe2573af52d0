// The measures by their --only name, in the order of the table.
import { agents } from "./agents.mjs";
import { coldStart } from "./cold-start.mjs";
import { cpu } from "./cpu.mjs";
import { firstFrame } from "./first-frame.mjs";
import { growth } from "./growth.mjs";
import { http } from "./http.mjs";
import { latency } from "./latency.mjs";
import { replay } from "./replay.mjs";
import { rss } from "./rss.mjs";
import { stdio } from "./stdio.mjs";
import { throughput } from "./throughput.mjs";
import { ui } from "./ui.mjs";

/** @type {Record<string, (context: import("../plan.mjs").Context) => Promise<import("../table.mjs").Row[]>>} */
export const MEASURES = {
  throughput,
  latency,
  "first-frame": firstFrame,
  cpu,
  replay,
  "cold-start": coldStart,
  rss,
  stdio,
  agents,
  http,
  growth,
  ui,
};
