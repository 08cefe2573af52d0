// npm run test:e2e: the tests that drive the real agents through the real daemon, against scripted models on
// loopback; no account is needed. Installs the pinned agents once, below .e2e/. Arguments go to vitest.
import { execFile, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { prepare, root, run } from "./prepare.mjs";

// Several installations: with --no-save npm removes what it was not asked for, and only those of the first need their
// install scripts (the others' would fetch more, or build).
const GROUPS = [
  {
    directory: ".e2e/agents",
    npmOptions: [],
    agents: [
      {
        name: "Claude Code",
        package: "@anthropic-ai/claude-code",
        version: "2.1.197",
        programs: [".bin/claude"],
        env: "E2E_CLAUDE",
      },
      {
        name: "Codex",
        package: "@openai/codex",
        version: "0.166.0",
        programs: [".bin/codex"],
        env: "E2E_CODEX",
      },
    ],
  },
  {
    directory: ".e2e/acp-agents",
    npmOptions: ["--ignore-scripts"],
    agents: [
      {
        name: "opencode",
        package: "opencode-ai",
        version: "1.18.33",
        // Its program on the PATH is made by an install script; the platform's own package has the same.
        programs: opencodePackages().map((name) => `${name}/bin/opencode`),
        env: "E2E_OPENCODE",
      },
      {
        name: "Gemini CLI",
        package: "@google/gemini-cli",
        version: "0.61.0",
        programs: [".bin/gemini"],
        env: "E2E_GEMINI",
      },
      {
        name: "codex-acp",
        package: "@agentclientprotocol/codex-acp",
        version: "2.6.0",
        programs: [".bin/codex-acp"],
        // The codex that it drives comes with it.
        needs: { program: ".bin/codex", version: "0.166.0" },
        env: "E2E_CODEX_ACP",
      },
    ],
  },
  {
    directory: ".e2e/claude-sdk",
    // Without the Claude Code that comes with it: the one above is used.
    npmOptions: ["--ignore-scripts", "--omit=optional"],
    agents: [
      {
        name: "the Agent SDK of Claude Code",
        package: "@anthropic-ai/claude-agent-sdk",
        version: "0.3.325",
        module: "sdk.mjs",
        env: "E2E_CLAUDE_SDK",
      },
    ],
  },
];
/** They write into it as soon as they are asked for their version. */
const home = join(root, ".e2e/home");

prepare();
mkdirSync(home, { recursive: true });
const env = { ...process.env };
for (const group of GROUPS) Object.assign(env, await provide(group));
run(
  process.execPath,
  ["node_modules/vitest/vitest.mjs", "run", "--config", "vitest.e2e.config.ts", ...process.argv.slice(2)],
  { env },
);

/** Installs the agents of a group if one is missing or of another version; gives their programs by variable. */
async function provide(group) {
  const { directory, agents } = group;
  const before = await Promise.all(agents.map((agent) => look(group, agent)));
  if (before.every(({ program }) => program !== undefined)) return variables(agents, before);
  const missing = agents.filter((_, index) => before[index].program === undefined);
  for (const agent of missing) {
    console.error(`· installing ${agent.name} ${agent.version} (${specOf(agent)}) into ${directory} …`);
    // A half-done installation is worse than none: npm would take it for good.
    rmSync(join(root, directory, "node_modules", agent.package), { recursive: true, force: true });
  }
  install(group, missing);
  const after = await Promise.all(agents.map((agent) => look(group, agent)));
  for (const [index, { program, said }] of after.entries()) {
    // Its native program comes by an optional package or by a script after the installation; only this tells.
    if (program === undefined) fail([agents[index]], said);
    console.error(`· ${agents[index].name} says ${said}`);
  }
  return variables(agents, after);
}

function install({ directory, npmOptions, agents }, missing) {
  const prefix = join(root, directory);
  mkdirSync(prefix, { recursive: true });
  const options = ["--no-save", "--no-audit", "--no-fund", "--engine-strict=false", "--loglevel=error"];
  const npm = spawnSync(
    "npm",
    ["install", "--prefix", prefix, ...options, ...npmOptions, ...agents.map(specOf)],
    { cwd: prefix, stdio: ["ignore", 2, 2] },
  );
  if (npm.error !== undefined) fail(missing, `npm could not be started: ${npm.error.message}`);
  if (npm.status !== 0) fail(missing, `npm install ended with code ${npm.status ?? npm.signal}`);
}

/** The first of its programs that says the version, and what was said. */
async function look({ directory }, { package: name, module, programs, version, needs }) {
  const modules = join(root, directory, "node_modules");
  if (module !== undefined) return lookAtModule(join(modules, name), module, version);
  if (needs !== undefined) {
    const said = await versionOf(join(modules, needs.program));
    if (!said.includes(needs.version)) return { said: `${needs.program} --version says "${said}"` };
  }
  const heard = [];
  for (const program of programs.map((path) => join(modules, path))) {
    const said = await versionOf(program);
    if (said.includes(version)) return { program, said };
    heard.push(`${program} --version says "${said}"`);
  }
  return { said: heard.join("; ") };
}

/** A library cannot be asked; what is written in its package must do. */
function lookAtModule(directory, module, version) {
  const file = join(directory, "package.json");
  if (!existsSync(file)) return { said: `${file} is not there` };
  const said = JSON.parse(readFileSync(file, "utf8")).version;
  return said === version ? { program: join(directory, module), said } : { said: `${file} says ${said}` };
}

function versionOf(program) {
  if (!existsSync(program)) return Promise.resolve("nothing: it is not there");
  return new Promise((resolve) => {
    const options = { timeout: 60_000, env: { ...process.env, HOME: home } };
    execFile(program, ["--version"], options, (error, stdout, stderr) =>
      resolve((stdout + stderr).trim() || String(error?.message ?? "nothing")),
    );
  });
}

function variables(agents, found) {
  return Object.fromEntries(agents.map((agent, index) => [agent.env, found[index].program]));
}

function specOf(agent) {
  return `${agent.package}@${agent.version}`;
}

/** As opencode names them: for this system, for older processors (-baseline) and for musl; npm takes what fits. */
function opencodePackages() {
  const base = `opencode-${process.platform}-${process.arch}`;
  return [base, `${base}-baseline`, `${base}-musl`, `${base}-baseline-musl`];
}

function fail(agents, why) {
  const names = agents.map((agent) => `${agent.name} ${agent.version}`).join(" and ");
  console.error(`✗ ${names}: needed for the end-to-end tests, and could not be installed.`);
  console.error(`  ${why}`);
  console.error("  Is the package registry reachable? (npm ping) Nothing was tested.");
  process.exit(1);
}
