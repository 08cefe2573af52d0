// One run of the end-to-end tests: vitest with the agents of the environment, and how long it took.
import { spawnSync } from "node:child_process";
import { root } from "./prepare.mjs";

/** On two cores, all of it. */
const BUDGET_S = 240;

/** Gives the exit code. */
export function runLane(agents, args) {
  const startedMs = Date.now();
  const vitest = ["node_modules/vitest/vitest.mjs", "run", "--config", "vitest.e2e.config.ts", ...args];
  const options = { cwd: root, stdio: "inherit", env: { ...process.env, ...agents } };
  const { status } = spawnSync(process.execPath, vitest, options);
  const seconds = Math.round((Date.now() - startedMs) / 1000);
  const over = seconds > BUDGET_S ? `, ${seconds - BUDGET_S} s over` : "";
  console.error(`· end-to-end tests: ${seconds} s (budget ${BUDGET_S} s${over})`);
  return status ?? 1;
}
