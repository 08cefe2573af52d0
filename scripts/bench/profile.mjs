// Shows where the daemon spends its time: runs a durable load under --cpu-prof and sums self time by source function,
// for each thread. Not a measure: the profiler itself slows the daemon.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Load } from "./load.mjs";
import { startDaemon } from "./targets.mjs";

const SHOWN = 30;

/** @type {Record<string, { sessions: number, run(load: Load, plan: import("./plan.mjs").Plan): Promise<unknown> }>} */
export const PROFILES = {
  flood: {
    sessions: 8,
    async run(load, plan) {
      for (let i = 0; i < plan.floodRounds; i++) await load.flood(plan.floodEvents);
    },
  },
  pace: { sessions: 1, run: (load, plan) => load.pace(plan.cpuRate, 5) },
  replay: {
    sessions: 1,
    async run(load, plan) {
      await load.flood(plan.historyEvents);
      for (let i = 0; i < plan.replayRounds; i++) await load.watch();
    },
  },
};

/**
 * @param {import("./plan.mjs").Context} context
 * @param {string} name
 */
export async function profile(context, name) {
  const { sessions, run } = PROFILES[name] ?? { sessions: 0, run: async () => {} };
  const { bench, plan, progress } = context;
  progress(`${name}, ${sessions} session${sessions > 1 ? "s" : ""}, durable`);
  const directory = bench.makeDirectory();
  const nodeArgs = ["--cpu-prof", "--cpu-prof-interval", "500", "--cpu-prof-dir", directory];
  const daemon = await startDaemon(context, "durable", { nodeArgs });
  const load = await Load.open(context, daemon.socketPath, sessions);
  await run(load, plan);
  await load.close();
  await daemon.stop();
  return readdirSync(directory)
    .filter((file) => file.endsWith(".cpuprofile"))
    .map((file) => summarise(JSON.parse(readFileSync(join(directory, file), "utf8"))))
    .join("\n");
}

/**
 * @typedef {{ functionName: string, url: string, lineNumber: number }} Frame
 * @param {{ nodes: { id: number, callFrame: Frame }[], samples: number[], timeDeltas: number[] }} cpuProfile
 */
function summarise({ nodes, samples, timeDeltas }) {
  const isWorker = nodes.some(({ callFrame }) => callFrame.url.endsWith("worker.js"));
  const nameOf = createNamer();
  const names = new Map(nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]));
  /** @type {Map<string, number>} */
  const selfUs = new Map();
  samples.forEach((id, i) => {
    const name = names.get(id) ?? "?";
    selfUs.set(name, (selfUs.get(name) ?? 0) + (timeDeltas[i] ?? 0));
  });
  const totalUs = [...selfUs.values()].reduce((sum, us) => sum + us, 0);
  const busyUs = totalUs - (selfUs.get("(idle)") ?? 0);
  const lines = [...selfUs]
    .filter(([name]) => name !== "(idle)")
    .sort(([, a], [, b]) => b - a)
    .slice(0, SHOWN)
    .map(([name, us]) => `${percent(us, busyUs).padStart(8)}  ${millis(us).padStart(8)}  ${name}`);
  const head = `${isWorker ? "store thread" : "main thread"}: busy ${millis(busyUs)} of ${millis(totalUs)}`;
  return `${head}\n${lines.join("\n")}\n`;
}

const percent = (/** @type {number} */ part, /** @type {number} */ whole) =>
  `${((part / whole) * 100).toFixed(1)} %`;
const millis = (/** @type {number} */ us) => `${(us / 1000).toFixed(0)} ms`;

/** Names a frame by its source: esbuild writes the path of each source file above its part of the bundle. */
function createNamer() {
  /** @type {Map<string, string[]>} */
  const bundles = new Map();
  return (/** @type {Frame} */ { functionName, url, lineNumber }) => {
    const name = functionName || "(anonymous)";
    if (!url.startsWith("file:")) return url === "" ? name : `${name}  ${url}`;
    const path = fileURLToPath(url);
    const lines = bundles.get(path) ?? (existsSync(path) ? readFileSync(path, "utf8").split("\n") : []);
    bundles.set(path, lines);
    const above = lines.slice(0, lineNumber + 1).findLast((line) => /^\/\/ (src|node_modules)\//.test(line));
    return `${name}  ${above?.slice(3) ?? path}`;
  };
}
