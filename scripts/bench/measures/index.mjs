// The measures by their --only name, in the order of the table.
import { agents } from "./agents.mjs";
import { checkpoints } from "./checkpoints.mjs";
import { cli } from "./cli.mjs";
import { command } from "./command.mjs";
import { cpu } from "./cpu.mjs";
import { curveOfHistory, curveOfSessions, curveOfWatchers } from "./curves.mjs";
import { fleet } from "./fleet.mjs";
import { growth } from "./growth.mjs";
import { guard } from "./guard.mjs";
import { http } from "./http.mjs";
import { latency } from "./latency.mjs";
import { policy } from "./policy.mjs";
import { raw } from "./raw.mjs";
import { replay } from "./replay.mjs";
import { resume } from "./resume.mjs";
import { rss } from "./rss.mjs";
import { search } from "./search.mjs";
import { start } from "./start.mjs";
import { stdio } from "./stdio.mjs";
import { throughput } from "./throughput.mjs";
import { turn } from "./turn.mjs";
import { ui } from "./ui.mjs";

/** @typedef {(context: import("../plan.mjs").Context) => Promise<import("../table.mjs").Row[]>} Measure */

/** What a person or an agent feels, and what is recorded. @type {Record<string, Measure>} */
export const TABLE = { start, turn, latency, throughput, rss, replay, resume, cli, raw, guard };

/** Questions that come up now and then. @type {Record<string, Measure>} */
export const EXTRAS = { cpu, stdio, agents, http, policy, command, checkpoints, search, ui, fleet };

/** How the figures grow. @type {Record<string, Measure>} */
export const CURVES = {
  sessions: curveOfSessions,
  watchers: curveOfWatchers,
  history: curveOfHistory,
  growth,
};

/** @type {Record<string, Measure>} */
export const MEASURES = { ...TABLE, ...EXTRAS, ...CURVES };
