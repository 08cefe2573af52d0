// Installs agents for the end-to-end tests below .e2e/, once: an installed agent of the right version is kept.
import { execFile, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { root } from "./prepare.mjs";

/** They write into it as soon as they are asked for their version. */
const home = join(root, ".e2e/home");

/** Returns the environment variables that name the programs of all these agents. Exits if one cannot be installed. */
export async function provideAll(groups) {
  mkdirSync(home, { recursive: true });
  const found = [];
  for (const group of groups) found.push(await provide(group));
  return Object.assign({}, ...found);
}

/** Installs the agents of a group if one is missing or has another version; returns their programs by variable. */
async function provide(group) {
  const { directory, agents } = group;
  const before = await Promise.all(agents.map((agent) => look(group, agent)));
  if (before.every(({ program }) => program !== undefined)) return variables(agents, before);
  const missing = agents.filter((_, index) => before[index].program === undefined);
  for (const agent of missing) {
    console.error(`· installing ${agent.name} ${agent.version} (${specOf(agent)}) into ${directory} …`);
    // Removes a partial installation: npm would take it for a complete one.
    rmSync(join(root, directory, "node_modules", agent.package), { recursive: true, force: true });
  }
  install(group, missing);
  const after = await Promise.all(agents.map((agent) => look(group, agent)));
  for (const [index, { program, said }] of after.entries()) {
    // Its native program comes from an optional package or an install script; running it is the only check.
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
  if (npm.error !== undefined) fail(missing, `cannot start npm: ${npm.error.message}`);
  if (npm.status !== 0) fail(missing, `npm install failed with ${npm.status ?? npm.signal}`);
}

/** The first of its programs that prints the version, and its output. */
async function look({ directory }, { package: name, module, programs, version, needs }) {
  const modules = join(root, directory, "node_modules");
  if (module !== undefined) return lookAtModule(join(modules, name), module, version);
  if (needs !== undefined) {
    const said = await versionOf(join(modules, needs.program));
    if (!said.includes(needs.version)) return { said: `${needs.program} --version printed "${said}"` };
  }
  const heard = [];
  for (const program of programs.map((path) => join(modules, path))) {
    const said = await versionOf(program);
    if (said.includes(version)) return { program, said };
    heard.push(`${program} --version printed "${said}"`);
  }
  return { said: heard.join("; ") };
}

/** A library has no --version; its package.json must do. */
function lookAtModule(directory, module, version) {
  const file = join(directory, "package.json");
  if (!existsSync(file)) return { said: `${file} does not exist` };
  const said = JSON.parse(readFileSync(file, "utf8")).version;
  return said === version ? { program: join(directory, module), said } : { said: `${file} says ${said}` };
}

function versionOf(program) {
  if (!existsSync(program)) return Promise.resolve("nothing: it does not exist");
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

function fail(agents, why) {
  const names = agents.map((agent) => `${agent.name} ${agent.version}`).join(" and ");
  console.error(`✗ ${names}: cannot install; the end-to-end tests need it.`);
  console.error(`  ${why}`);
  console.error("  Is the package registry reachable? (npm ping) Nothing was tested.");
  process.exit(1);
}
