// From spawn to hello_ack next to the relay's start: with an empty state directory, with one that an earlier start left,
// and with claude and codex on the PATH.
import { chmodSync, existsSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findAgent, INSTALLED } from "../real-agents.mjs";
import { rounds, toRow } from "../rounds.mjs";
import { daemonProgram, relayProgram, timeProgram } from "../targets.mjs";

const AGENTS = { claude: "2.1.327 (Claude Code)", codex: "codex-cli 0.169.0" };

/** @param {import("../plan.mjs").Context} context */
export async function start(context) {
  const { bench, plan, progress } = context;
  const agents = provideAgents(bench);
  progress(`${plan.starts} times; agents: ${agents.what}`);
  const [again, found] = [bench.makeDirectory(), bench.makeDirectory()];
  const daemon = (/** @type {string[]} */ path, /** @type {string} */ directory) =>
    daemonProgram(context, "durable", { directory, env: withoutAgents(bench, path) });
  const candidates = /** @type {const} */ ([
    { name: "relay", program: () => relayProgram(context) },
    { name: "first", program: () => daemon([], bench.makeDirectory()) },
    { name: "again", program: () => daemon([], again) },
    { name: "agents", program: () => daemon([agents.directory], found) },
  ]);
  const time = async (/** @type {(typeof candidates)[number]} */ { program }) =>
    (await timeProgram(context, program())).wallMs;
  await rounds(candidates, 1, time);
  const all = await rounds(candidates, plan.starts, time);
  const row = (/** @type {"first" | "again" | "agents"} */ name, /** @type {string} */ what) =>
    toRow(
      { id: `start.${name}`, measure: `spawn to hello_ack, ${what}`, store: "durable", unit: "ms" },
      all[name],
      all.relay,
    );
  return [
    row("first", "no agents, first start"),
    row("again", "no agents"),
    row("agents", `claude and codex (${agents.what})`),
  ];
}

/**
 * A PATH with Node and the system's programs only: an agent may be installed beside Node.
 * @param {import("../workbench.mjs").Workbench} bench
 * @param {string[]} [directories] that come first
 * @returns {Record<string, string | undefined>}
 */
export function withoutAgents(bench, directories = []) {
  const node = join(bench.directory, "node-only");
  if (!existsSync(node)) {
    bench.makeDirectory(node);
    symlinkSync(process.execPath, join(node, "node"));
  }
  return { PATH: [...directories, node, "/usr/bin", "/bin"].join(":"), BLEMEESD_CLAUDE: undefined };
}

/**
 * The real ones if the end-to-end tests have installed them; else two that take as long to print their version.
 * @param {import("../workbench.mjs").Workbench} bench
 */
function provideAgents(bench) {
  if (findAgent("claude") && findAgent("codex")) return { directory: INSTALLED, what: "real" };
  const directory = bench.makeDirectory();
  for (const [name, version] of Object.entries(AGENTS)) {
    const file = join(directory, name);
    writeFileSync(file, `#!/bin/sh\nsleep 0.4\necho '${version}'\n`);
    chmodSync(file, 0o755);
  }
  return { directory, what: "fake, 400 ms" };
}
