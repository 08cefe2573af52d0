// npm test: sets up what is missing, then runs the unit lane and the process lane (vitest.config.ts). Arguments go to
// vitest: npm test -- test/store
import { reportLanes, runLane } from "./lanes.mjs";
import { prepare, run } from "./prepare.mjs";

prepare();
const args = process.argv.slice(2);
if (args.length > 0) {
  run(process.execPath, ["node_modules/vitest/vitest.mjs", "run", ...args]);
} else {
  reportLanes(["unit", "process"].map((lane) => runLane(lane, ["--project", lane])));
}
