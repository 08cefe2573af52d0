// The measures by the name that --only takes, in the order of the table.
import { agents } from "./agents.mjs";
import { coldStart } from "./cold-start.mjs";
import { cpu } from "./cpu.mjs";
import { faces } from "./faces.mjs";
import { firstFrame } from "./first-frame.mjs";
import { http } from "./http.mjs";
import { latency } from "./latency.mjs";
import { replay } from "./replay.mjs";
import { rss } from "./rss.mjs";
import { throughput } from "./throughput.mjs";

/** @type {Record<string, (context: import("../plan.mjs").Context) => Promise<import("../table.mjs").Row[]>>} */
export const MEASURES = {
  throughput,
  latency,
  "first-frame": firstFrame,
  cpu,
  replay,
  "cold-start": coldStart,
  rss,
  agents,
  http,
  faces,
};
