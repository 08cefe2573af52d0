// `npm run bench -- --tasks`: 20 small coding tasks by demian, opencode and codex on the same scripted model.
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { listAgents } from "./agents.mjs";
import { isApplied, listTasks } from "./list.mjs";
import { startModel } from "./model.mjs";
import { weigh } from "./prefix.mjs";

const LIMIT_MS = 120_000;
const HEAD = [
  "agent",
  "protocol",
  "requests",
  "tokens sent",
  "cacheable",
  "not cached",
  "time",
  "edits applied",
];

/**
 * Returns a Markdown table.
 * @param {import("../plan.mjs").Context} context
 */
export async function runTasks({ bench, daemon, progress }) {
  /** @type {Parameters<typeof startModel>[0]} */
  const state = { work: undefined, sent: [] };
  const model = await startModel(state);
  /** @type {string[][]} */
  const rows = [];
  try {
    for (const agent of listAgents(join(dirname(daemon), "demian.js"))) {
      if (agent.program === undefined) {
        progress(`${agent.name} is not installed; \`npm run test:e2e\` installs it`);
        continue;
      }
      progress(`${agent.name}, ${agent.protocol}`);
      rows.push(await runAgent(agent, { bench, state, url: model.url, progress }));
    }
  } finally {
    await model.close();
  }
  return [HEAD, HEAD.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |\n`).join("");
}

/**
 * @param {import("./agents.mjs").Agent} agent
 * @param {{ bench: import("../workbench.mjs").Workbench, state: Parameters<typeof startModel>[0], url: string,
 *   progress: (text: string) => void }} place
 */
async function runAgent(agent, { bench, state, url, progress }) {
  const home = bench.makeDirectory();
  const env = { PATH: process.env["PATH"] ?? "", HOME: home, TERM: "dumb", ...agent.furnish(home, url) };
  state.sent = [];
  let [ms, applied, edits] = [0, 0, 0];
  for (const task of listTasks()) {
    const cwd = bench.makeDirectory();
    for (const [path, text] of Object.entries(task.files)) {
      mkdirSync(dirname(join(cwd, path)), { recursive: true });
      writeFileSync(join(cwd, path), text);
    }
    state.work = { task, cwd };
    const startedAt = performance.now();
    const args = [...(agent.first ?? []), ...agent.args(task.prompt)];
    const fault = await run(/** @type {string} */ (agent.program), args, { cwd, env });
    ms += performance.now() - startedAt;
    if (fault !== undefined) progress(`${agent.name}: ${fault}`);
    const read = (/** @type {string} */ path) =>
      existsSync(join(cwd, path)) ? readFileSync(join(cwd, path), "utf8") : "";
    const changes = task.steps.filter((step) => step.do === "edit" || step.do === "write");
    edits += changes.length;
    applied += changes.filter((step) => isApplied(step, read)).length;
  }
  const { tokens, share } = weigh(state.sent);
  return [
    agent.name,
    agent.protocol,
    String(state.sent.length),
    tokens.toLocaleString("en"),
    `${(share * 100).toFixed(1)} %`,
    Math.round(tokens * (1 - share)).toLocaleString("en"),
    `${(ms / 1000).toFixed(1)} s`,
    `${applied} of ${edits}`,
  ];
}

/**
 * @param {string} program
 * @param {string[]} args
 * @param {{ cwd: string, env: Record<string, string> }} options
 * @returns {Promise<string | undefined>} why it failed
 */
function run(program, args, options) {
  return new Promise((resolve) => {
    const child = execFile(program, args, { ...options, timeout: LIMIT_MS }, (error, _out, stderr) =>
      resolve(error === null ? undefined : `${error.message.split("\n")[0]} ${stderr.slice(-300)}`),
    );
    child.stdin?.end();
  });
}
