// Where the daemon's time goes: runs the 8-session durable load under --cpu-prof and sums self time by function,
// for each thread. Not a measure: the profiler itself slows the daemon.
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { Load } from "./load.mjs";
import { startDaemon } from "./targets.mjs";

const SESSIONS = 8;
const ROUNDS = 4;
const SHOWN = 30;

/** @param {import("./plan.mjs").Context} context */
export async function profile(context) {
  const { bench, plan, progress } = context;
  progress(`${SESSIONS} sessions, durable`);
  const directory = bench.makeDirectory();
  const nodeArgs = ["--cpu-prof", "--cpu-prof-interval", "500", "--cpu-prof-dir", directory];
  const daemon = await startDaemon(context, "durable", { nodeArgs });
  const load = await Load.open(context, daemon.socketPath, SESSIONS);
  for (let i = 0; i < ROUNDS; i++) await load.flood(plan.floodEvents);
  await load.close();
  await daemon.stop();
  return readdirSync(directory)
    .filter((name) => name.endsWith(".cpuprofile"))
    .map((name) => summarise(name, JSON.parse(readFileSync(join(directory, name), "utf8"))))
    .join("\n");
}

/**
 * @param {string} name
 * @param {{ nodes: { id: number, callFrame: { functionName: string, url: string, lineNumber: number } }[],
 *   samples: number[], timeDeltas: number[] }} cpuProfile
 */
export function summarise(name, { nodes, samples, timeDeltas }) {
  const places = new Map(nodes.map(({ id, callFrame }) => [id, place(callFrame)]));
  /** @type {Map<string, number>} */
  const selfUs = new Map();
  samples.forEach((id, i) => {
    const at = places.get(id) ?? "?";
    selfUs.set(at, (selfUs.get(at) ?? 0) + (timeDeltas[i] ?? 0));
  });
  const totalUs = [...selfUs.values()].reduce((sum, us) => sum + us, 0);
  const busyUs = totalUs - (selfUs.get("(idle)") ?? 0);
  const lines = [...selfUs]
    .filter(([at]) => at !== "(idle)")
    .sort(([, a], [, b]) => b - a)
    .slice(0, SHOWN)
    .map(
      ([at, us]) =>
        `${((us / busyUs) * 100).toFixed(1).padStart(6)} %  ${(us / 1000).toFixed(0).padStart(6)} ms  ${at}`,
    );
  const share = ((busyUs / totalUs) * 100).toFixed(0);
  return `${name}: busy ${(busyUs / 1000).toFixed(0)} ms of ${(totalUs / 1000).toFixed(0)} ms (${share} %)\n${lines.join("\n")}\n`;
}

/** @param {{ functionName: string, url: string, lineNumber: number }} frame */
function place({ functionName, url, lineNumber }) {
  const name = functionName || "(anonymous)";
  return url === "" ? name : `${name}  ${url.startsWith("node:") ? url : basename(url)}:${lineNumber + 1}`;
}
