// Runs tests in lanes, prints the time of each next to its budget, and adds up the tests.
import { spawnSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "./prepare.mjs";

/** Seconds that a lane may take on two cores. Printed, never enforced: a slow machine is not a defect. */
export const BUDGETS_S = { unit: 90, process: 180, e2e: 240 };

/** Runs one lane and returns its figures; `args` go to vitest. */
export function runLane(name, args, options = {}) {
  const report = join(tmpdir(), `blemees-${process.pid}-${name}.json`);
  const startedMs = Date.now();
  const { status } = spawnSync(
    options.node ?? process.execPath,
    [
      "node_modules/vitest/vitest.mjs",
      "run",
      ...args,
      "--reporter=default",
      "--reporter=json",
      `--outputFile.json=${report}`,
    ],
    { cwd: root, stdio: "inherit", env: options.env ?? process.env },
  );
  return {
    name: options.label ?? name,
    budget_s: BUDGETS_S[name],
    seconds: (Date.now() - startedMs) / 1000,
    isGreen: status === 0,
    ...countTests(report),
  };
}

/** Prints the lanes and exits with 1 if one failed. */
export function reportLanes(lanes) {
  for (const { name, seconds, budget_s, isGreen, passed, failed } of lanes) {
    const over = seconds > budget_s ? ", over budget" : "";
    console.log(
      `${isGreen ? "✓" : "✗"} ${name.padEnd(14)} ${passed} passed, ${failed} failed in ${seconds.toFixed(0)} s (budget ${budget_s} s${over})`,
    );
  }
  const sum = (key) => lanes.reduce((total, lane) => total + lane[key], 0);
  console.log(`${sum("passed")} passed, ${sum("failed")} failed, ${sum("skipped")} skipped`);
  if (lanes.some(({ isGreen }) => !isGreen)) process.exit(1);
}

/** Zeros if vitest exited before it wrote its report. */
function countTests(report) {
  try {
    const { numPassedTests, numFailedTests, numPendingTests } = JSON.parse(readFileSync(report, "utf8"));
    return { passed: numPassedTests, failed: numFailedTests, skipped: numPendingTests };
  } catch {
    return { passed: 0, failed: 0, skipped: 0 };
  } finally {
    rmSync(report, { force: true });
  }
}
