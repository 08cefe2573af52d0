// npm run chaos: the fault tests at their full sizes, one after another because they measure. Arguments go to vitest:
// npm run chaos -- kill
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { stripVTControlCharacters } from "node:util";
import { prepare, root } from "./prepare.mjs";

/** Settings for the tests; a value that is already set in the environment stays. */
const SIZES = {
  FUZZ_INPUTS: "10000000",
  SOCKET_INPUTS: "200000",
  KILLS: "300",
  KILL_SEED: String(Math.floor(Math.random() * 1_000_000_000)),
  OUTLIVE_KILLS: "300",
  OUTLIVE_TAKEOVERS: "20",
  OUTLIVE_STOPS: "10",
  OUTLIVE_SEED: String(1 + Math.floor(Math.random() * 1_000_000)),
  CONNECTIONS: "1000",
  FAMILY_CHILDREN: "50",
  WATCHES: "10000",
  SLOW_S: "30",
  SOAK_EVENTS: "1000000",
  CHAOS_SEEDS: "20000",
  LEDGER_SEQUENCES: "5000",
  CORE_SEQUENCES: "100000",
  BUDGET_TREES: "5000",
  QUOTA_KILLS: "100",
  SWAP_S: "20",
  UNDO_SCRIPTS: "500",
  UNDO_SEED: String(1 + Math.floor(Math.random() * 1_000_000)),
};
/** See test/crash/figure.ts. */
const FIGURE = "▸ ";

prepare();
const env = { ...SIZES, ...process.env };
console.error(
  `· ${Object.keys(SIZES)
    .map((name) => `${name}=${env[name]}`)
    .join(" ")}`,
);
const startedMs = Date.now();
const vitest = spawn(
  process.execPath,
  ["node_modules/vitest/vitest.mjs", "run", "--config", "vitest.chaos.config.ts", ...process.argv.slice(2)],
  { cwd: root, env, stdio: ["ignore", "pipe", "inherit"] },
);
const figures = [];
for await (const line of createInterface({ input: vitest.stdout })) {
  console.log(line);
  const text = stripVTControlCharacters(line);
  if (text.startsWith(FIGURE)) figures.push(text.slice(FIGURE.length));
}
const code =
  vitest.exitCode ?? (await new Promise((resolve) => vitest.once("exit", (exit) => resolve(exit ?? 1))));
const seconds = Math.round((Date.now() - startedMs) / 1000);
console.log(`chaos: ${code === 0 ? "all passed" : "FAILED"} in ${seconds} s`);
for (const figure of figures) console.log(`  ${figure}`);
process.exitCode = code;
