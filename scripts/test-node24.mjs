// npm run test:node24: the unit lane, and the tests of what differs in Node 24 (its own SQLite, compiled code), on
// the newest tested Node. It comes from npm's package `node` and is installed once, below .e2e/.
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { reportLanes, runLane } from "./lanes.mjs";
import { prepare, root } from "./prepare.mjs";

const VERSION = "24.21.0";
const DIFFERENT = [
  "test/base/code-cache.test.ts",
  "test/store/thread.test.ts",
  "test/observe/observer.test.ts",
];

prepare();
const prefix = join(root, ".e2e/node24");
const node = join(prefix, "node_modules/node/bin/node");
if (versionOf(node) !== `v${VERSION}`) install();
reportLanes([
  runLane("unit", ["--project", "unit"], { node, label: "unit, Node 24" }),
  runLane("process", ["--project", "process", ...DIFFERENT], { node, label: "process, Node 24" }),
]);

function install() {
  console.error(`· installing Node ${VERSION} into .e2e/node24 …`);
  mkdirSync(prefix, { recursive: true });
  const options = ["--no-save", "--no-audit", "--no-fund", "--engine-strict=false", "--loglevel=error"];
  spawnSync("npm", ["install", "--prefix", prefix, ...options, `node@${VERSION}`], {
    cwd: prefix,
    stdio: ["ignore", 2, 2],
  });
  const said = versionOf(node);
  if (said === `v${VERSION}`) return;
  console.error(`✗ cannot install Node ${VERSION} (${said}); is the package registry reachable? (npm ping)`);
  process.exit(1);
}

function versionOf(program) {
  const { stdout, error } = spawnSync(program, ["--version"], { encoding: "utf8" });
  return error === undefined ? stdout.trim() : error.message;
}
