// npm run agents:latest: tests against the newest published agents. Installs the newest version of each below
// .e2e/latest/, runs the end-to-end tests on them and prints the version tested before, the newest version and the
// result. Arguments go to vitest.
import { execFile, spawnSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { GROUPS } from "./e2e-agents.mjs";
import { provideAll } from "./e2e-install.mjs";
import { prepare, root } from "./prepare.mjs";

const REPORT = join(root, ".e2e/latest/report.json");

const latest = await Promise.all(GROUPS.map(newestOf));
prepare();
const env = await provideAll(latest);
rmSync(REPORT, { force: true });
const vitest = ["node_modules/vitest/vitest.mjs", "run", "--config", "vitest.e2e.config.ts"];
const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${REPORT}`];
const { status } = spawnSync(process.execPath, [...vitest, ...reporters, ...process.argv.slice(2)], {
  cwd: root,
  stdio: "inherit",
  env: { ...process.env, ...env },
});
printTable(latest.flatMap(({ agents }) => agents));
process.exit(status ?? 1);

/** The oldest supported version is pinned; only the others move. */
async function newestOf(group) {
  if (group.agents.some(({ isOldest }) => isOldest)) return group;
  const agents = await Promise.all(
    group.agents.map(async ({ needs: _needs, ...agent }) => {
      const version = await publishedVersion(agent);
      return { ...agent, tested: agent.version, version };
    }),
  );
  return { ...group, directory: group.directory.replace(".e2e/", ".e2e/latest/"), agents };
}

/** By tag, not by range: for a range npm picks what runs on this Node, which may be months old. */
function publishedVersion(agent) {
  return new Promise((resolve) => {
    const args = ["view", `${agent.package}@latest`, "version", "--json", "--loglevel=error"];
    execFile("npm", args, { cwd: root, timeout: 60_000 }, (error, stdout, stderr) => {
      const version = error === null ? versionIn(stdout) : undefined;
      if (version !== undefined) return resolve(version);
      const [why = "no output"] = [
        stderr
          .trim()
          .split("\n")
          .find((line) => line !== ""),
      ];
      console.error(`✗ ${agent.name}: could not look up the newest version of ${agent.package}.`);
      console.error(`  ${error?.code === "ENOENT" ? "npm could not be started" : why}`);
      console.error(
        "  Is the package registry reachable? (npm ping) Nothing was installed and nothing was tested.",
      );
      process.exit(1);
    });
  });
}

function versionIn(stdout) {
  try {
    const said = JSON.parse(stdout);
    return typeof said === "string" && /^\d+(\.\d+)+/.test(said) ? said : undefined;
  } catch {
    return undefined; // npm printed something other than a version
  }
}

function printTable(agents) {
  const files = readReport();
  const rows = agents
    .filter(({ isOldest }) => !isOldest)
    .map(({ name, tested, version, tests }) => {
      const isOwn = ({ file }) => tests.some((test) => file.startsWith(test));
      return [name, tested, version, verdict(files.filter(isOwn))];
    });
  const known = agents.flatMap(({ tests }) => tests ?? []);
  const others = files.filter(({ file }) => !known.some((test) => file.startsWith(test)));
  const all = [["AGENT", "TESTED", "NEWEST", "RESULT"], ...rows, ["(several)", "", "", verdict(others)]];
  const widths = [0, 1, 2].map((at) => Math.max(...all.map((row) => row[at].length)));
  for (const row of all)
    console.log(
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join("  ")
        .trimEnd(),
    );
}

function verdict(files) {
  const passed = files.reduce((sum, file) => sum + file.passed, 0);
  const failed = files.reduce((sum, file) => sum + file.failed, 0);
  if (passed + failed === 0) return "not run";
  return failed === 0 ? `passed (${passed})` : `FAILED (${failed} of ${passed + failed})`;
}

function readReport() {
  let report;
  try {
    report = JSON.parse(readFileSync(REPORT, "utf8"));
  } catch {
    return []; // vitest failed before its report, and has printed why
  }
  return report.testResults.map(({ name, status, assertionResults }) => {
    const count = (wanted) => assertionResults.filter((test) => test.status === wanted).length;
    // A file that could not be loaded has no tests, and counts as failed.
    const broken = status === "failed" && assertionResults.length === 0 ? 1 : 0;
    return { file: relative(root, name), passed: count("passed"), failed: count("failed") + broken };
  });
}
