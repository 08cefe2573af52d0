// Sorts the test files into lanes by what they import, or by a mark (`// lane: process`), so that no list has to be kept: a file that starts processes or
// threads, itself or through a helper under test/, runs in the process lane; every other file runs in the unit lane,
// where the files of a worker share their modules.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

export interface Lanes {
  unit: string[];
  process: string[];
}

/** The mark is for files that start processes through src only. */
const STARTS_PROCESSES =
  /from "(?:node:child_process|node:worker_threads|playwright-core|esbuild)"|^\/\/ lane: process$/m;
const LOCAL_IMPORT = /(?:from|import) "(\.[^"]+\.ts)"/g;
/** These have a command of their own: `npm run test:e2e`, `npm run chaos`. */
const ELSEWHERE = new Set(["e2e", "chaos"]);

export function sortTests(root: string): Lanes {
  const tests = join(root, "test");
  const files = readdirSync(tests, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".test.ts") && !ELSEWHERE.has(path.split("/")[0] ?? ""))
    .map((path) => join(tests, path))
    .sort();
  const known = new Map<string, boolean>();
  const lanes: Lanes = { unit: [], process: [] };
  for (const file of files) {
    const lane = startsProcesses(file, tests, known) ? "process" : "unit";
    lanes[lane].push(relative(root, file));
  }
  return lanes;
}

function startsProcesses(file: string, tests: string, known: Map<string, boolean>): boolean {
  const before = known.get(file);
  if (before !== undefined) return before;
  known.set(file, false); // ends an import cycle
  const text = readFileSync(file, "utf8");
  const imported = [...text.matchAll(LOCAL_IMPORT)].map(([, path = ""]) => join(dirname(file), path));
  const helpers = imported.filter((path) => path.startsWith(tests) && existsSync(path));
  const found = STARTS_PROCESSES.test(text) || helpers.some((path) => startsProcesses(path, tests, known));
  known.set(file, found);
  return found;
}
