// What stored sessions cost: a start up to the first page of the list, memory, the page itself and the statistics, with none
// stored (the reference) and with more and more. None of them should grow.
import { join } from "node:path";
import { Http } from "../http.mjs";
import { IS_LINUX, memoryMb } from "../proc.mjs";
import { median, rounds } from "../rounds.mjs";
import { fillStore } from "../stored.mjs";
import { startDaemon } from "../targets.mjs";

const PAGE = "/sessions?limit=50";
const REPEATS = 20;

/**
 * @typedef {Record<"start" | "rss" | "page" | "stats", number>} Figures
 * @typedef {keyof Figures} Figure
 */

/** @type {readonly [Figure, string, string][]} */
const FIGURES = [
  ["start", "start to the first page of the list", "ms"],
  ["rss", "RSS after it", "MB"],
  ["page", "GET /sessions, first page", "ms"],
  ["stats", "GET /stats", "ms"],
];

/** @param {import("../plan.mjs").Context} context */
export async function growth(context) {
  const { plan, progress } = context;
  const candidates = [];
  for (const stored of [0, ...plan.growthSessions]) {
    progress(`storing ${stored} sessions`);
    const directory = await fill(context, stored);
    candidates.push({ name: String(stored), run: () => measure(context, directory) });
  }
  progress(`${plan.growthRounds} rounds`);
  // The first start migrates what was stored.
  await rounds(candidates, 1, ({ run }) => run());
  const all = await rounds(candidates, plan.growthRounds, ({ run }) => run());
  return plan.growthSessions.flatMap((stored) =>
    FIGURES.filter(([name]) => name !== "rss" || IS_LINUX).map(([name, measure, unit]) => {
      const values = (/** @type {number} */ count) => (all[String(count)] ?? []).map((found) => found[name]);
      return {
        id: `growth.${name}.${stored}`,
        measure: `${measure}, ${stored} stored sessions`,
        store: "durable",
        unit,
        value: median(values(stored)),
        reference: median(values(0)),
        reference_name: "none stored",
        rounds: values(stored),
        reference_rounds: values(0),
      };
    }),
  );
}

/**
 * A daemon makes the model of all sessions; the copies are written when it has stopped.
 * @param {import("../plan.mjs").Context} context
 * @param {number} stored
 */
async function fill(context, stored) {
  const directory = context.bench.makeDirectory();
  const daemon = await startDaemon(context, "durable", { directory });
  const client = new Http(daemon.socketPath);
  const order = { backend: "demo", name: "model", prompt: "hello", options: { pace_ms: 0 } };
  const { session } = JSON.parse(await client.ask("POST", "/sessions", order));
  await client.ask("GET", `/sessions/${session.session_id}/wait?until=idle`);
  client.close();
  await daemon.stop();
  if (stored > 0) fillStore(join(directory, "blemees"), stored);
  return directory;
}

/**
 * @param {import("../plan.mjs").Context} context
 * @param {string} directory
 * @returns {Promise<Figures>}
 */
async function measure(context, directory) {
  const startedAt = performance.now();
  const daemon = await startDaemon(context, "durable", { directory });
  const client = new Http(daemon.socketPath);
  try {
    await client.ask("GET", PAGE);
    const start = performance.now() - startedAt;
    const rss = IS_LINUX ? memoryMb(daemon.pid, "VmRSS") : Number.NaN;
    const times = { page: /** @type {number[]} */ ([]), stats: /** @type {number[]} */ ([]) };
    for (let n = 0; n < REPEATS; n++) {
      times.page.push(await client.time(PAGE));
      times.stats.push(await client.time("/stats"));
    }
    return { start, rss, page: median(times.page), stats: median(times.stats) };
  } finally {
    client.close();
    await daemon.stop();
  }
}
