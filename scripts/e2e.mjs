// npm run test:e2e: the tests that drive the real agents through the real daemon, against a scripted model on
// loopback; no account is needed. Installs the pinned agents once, below .e2e/. Arguments go to vitest.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { prepare, root, run } from "./prepare.mjs";

const AGENTS = [
  {
    name: "Claude Code",
    package: "@anthropic-ai/claude-code",
    version: "2.1.197",
    bin: "claude",
    env: "E2E_CLAUDE",
  },
];
const home = join(root, ".e2e/agents");

prepare();
const env = { ...process.env };
for (const agent of AGENTS) env[agent.env] = provide(agent);
run(
  process.execPath,
  ["node_modules/vitest/vitest.mjs", "run", "--config", "vitest.e2e.config.ts", ...process.argv.slice(2)],
  { env },
);

/** The path of the agent's program, installed when it is missing or of another version. */
function provide(agent) {
  const bin = join(home, "node_modules/.bin", agent.bin);
  if (versionOf(bin).includes(agent.version)) return bin;
  const spec = `${agent.package}@${agent.version}`;
  console.error(`· installing ${agent.name} ${agent.version} (${spec}) into .e2e/agents …`);
  mkdirSync(home, { recursive: true });
  // A half-done installation is worse than none: npm would take it for good.
  rmSync(join(home, "node_modules", agent.package), { recursive: true, force: true });
  const options = ["--no-save", "--no-audit", "--no-fund", "--engine-strict=false", "--loglevel=error"];
  const npm = spawnSync("npm", ["install", "--prefix", home, ...options, spec], {
    cwd: home,
    stdio: ["ignore", 2, 2],
  });
  if (npm.error !== undefined) fail(agent, `npm could not be started: ${npm.error.message}`);
  if (npm.status !== 0) fail(agent, `npm install ${spec} ended with code ${npm.status ?? npm.signal}`);
  // Its native program comes by an optional package or by a script after the installation; only this tells.
  const said = versionOf(bin);
  if (!said.includes(agent.version)) fail(agent, `${bin} --version says ${JSON.stringify(said)}`);
  console.error(`· ${agent.name} says ${said.trim()}`);
  return bin;
}

function versionOf(bin) {
  if (!existsSync(bin)) return "";
  const { stdout, stderr, error } = spawnSync(bin, ["--version"], { encoding: "utf8", timeout: 30_000 });
  return error === undefined ? stdout + stderr : String(error.message);
}

function fail(agent, why) {
  console.error(
    `✗ ${agent.name} ${agent.version} is needed for the end-to-end tests and could not be installed.`,
  );
  console.error(`  ${why}`);
  console.error("  Is the package registry reachable? (npm ping) Nothing was tested.");
  process.exit(1);
}
