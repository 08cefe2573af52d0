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
  { name: "Codex", package: "@openai/codex", version: "0.166.0", bin: "codex", env: "E2E_CODEX" },
];
const home = join(root, ".e2e/agents");

prepare();
provide(AGENTS);
const env = { ...process.env };
for (const agent of AGENTS) env[agent.env] = programOf(agent);
run(
  process.execPath,
  ["node_modules/vitest/vitest.mjs", "run", "--config", "vitest.e2e.config.ts", ...process.argv.slice(2)],
  { env },
);

function programOf(agent) {
  return join(home, "node_modules/.bin", agent.bin);
}

/** Installs the agents that are missing or of another version. */
function provide(agents) {
  const missing = agents.filter((agent) => !isThere(agent));
  if (missing.length === 0) return;
  for (const agent of missing) {
    console.error(`· installing ${agent.name} ${agent.version} (${specOf(agent)}) into .e2e/agents …`);
    // A half-done installation is worse than none: npm would take it for good.
    rmSync(join(home, "node_modules", agent.package), { recursive: true, force: true });
  }
  mkdirSync(home, { recursive: true });
  const options = ["--no-save", "--no-audit", "--no-fund", "--engine-strict=false", "--loglevel=error"];
  // All of them in one call: with --no-save npm removes what it was not asked for.
  const npm = spawnSync("npm", ["install", "--prefix", home, ...options, ...agents.map(specOf)], {
    cwd: home,
    stdio: ["ignore", 2, 2],
  });
  if (npm.error !== undefined) fail(missing, `npm could not be started: ${npm.error.message}`);
  if (npm.status !== 0) fail(missing, `npm install ended with code ${npm.status ?? npm.signal}`);
  for (const agent of agents) {
    // Its native program comes by an optional package or by a script after the installation; only this tells.
    const said = versionOf(programOf(agent));
    if (!said.includes(agent.version))
      fail([agent], `${programOf(agent)} --version says ${JSON.stringify(said)}`);
    console.error(`· ${agent.name} says ${said.trim()}`);
  }
}

function specOf(agent) {
  return `${agent.package}@${agent.version}`;
}

function isThere(agent) {
  return versionOf(programOf(agent)).includes(agent.version);
}

function versionOf(bin) {
  if (!existsSync(bin)) return "";
  const { stdout, stderr, error } = spawnSync(bin, ["--version"], { encoding: "utf8", timeout: 30_000 });
  return error === undefined ? stdout + stderr : String(error.message);
}

function fail(agents, why) {
  const names = agents.map((agent) => `${agent.name} ${agent.version}`).join(" and ");
  console.error(`✗ ${names}: needed for the end-to-end tests, and could not be installed.`);
  console.error(`  ${why}`);
  console.error("  Is the package registry reachable? (npm ping) Nothing was tested.");
  process.exit(1);
}
