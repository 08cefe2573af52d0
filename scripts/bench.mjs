// `npm run bench`: blemeesd against a minimal relay, same run, same fake agents, same reader. The table goes to
// stdout, progress to stderr. Exit 0: every target met; 1: one is missed, or the run failed; 2: wrong usage.
import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { judge } from "./bench/goals.mjs";
import { MEASURES } from "./bench/measures/index.mjs";
import { FULL, QUICK } from "./bench/plan.mjs";
import { meterOthers } from "./bench/proc.mjs";
import { PROFILES, profile } from "./bench/profile.mjs";
import { formatTable } from "./bench/table.mjs";
import { prepareTools } from "./bench/tools.mjs";
import { Workbench } from "./bench/workbench.mjs";

const DAEMON = join(import.meta.dirname, "../dist/blemeesd.js");
const HELP = `Usage: npm run bench -- [--quick] [--only NAME]... [--json FILE] [--no-fail] [--no-cc] [--daemon FILE]
       npm run bench -- --profile NAME
Example: npm run bench -- --quick --only latency

  --quick       fewer and shorter rounds (about a minute; the full run takes about 5)
  --only NAME   one of: ${Object.keys(MEASURES).join(", ")}; may be repeated
  --json FILE   write every figure, with its rounds, to FILE
  --no-fail     exit 0 even when a target is missed
  --no-cc       agent and reader in Node even where a C compiler exists
  --daemon FILE measure this blemeesd.js instead of dist/blemeesd.js
  --profile NAME  instead of measuring, show where the daemon spends its time under a load:
                ${Object.keys(PROFILES).join(", ")}
`;

process.exitCode = await main();

async function main() {
  const options = readOptions();
  if (typeof options === "number") return options;
  const daemon = options.daemon ?? DAEMON;
  if (daemon === DAEMON && !existsSync(DAEMON)) build();
  const bench = new Workbench();
  try {
    const tools = prepareTools(bench.directory, { isNative: !options["no-cc"] });
    const plan = options.quick ? QUICK : FULL;
    const context = (/** @type {string} */ name) => ({
      bench,
      tools,
      daemon,
      plan,
      progress: (/** @type {string} */ text) => void process.stderr.write(`bench: ${name}: ${text}\n`),
    });
    if (options.profile !== undefined) {
      process.stdout.write(await profile(context("profile"), options.profile));
      return 0;
    }
    const rows = [];
    for (const [name, measure] of Object.entries(MEASURES)) {
      if (options.only !== undefined && !options.only.includes(name)) continue;
      const others = meterOthers();
      const found = await measure(context(name));
      const share = others();
      rows.push(...found.map((row) => ({ ...row, others: share })));
    }
    process.stdout.write(`${describe(tools.kind)}\n\n${formatTable(rows)}`);
    if (options.json) writeJson(options.json, tools.kind, rows);
    const missed = rows.filter((row) => judge(row).some(({ isMet }) => !isMet));
    return missed.length === 0 || options["no-fail"] ? 0 : 1;
  } catch (error) {
    process.stderr.write(`bench: failed: ${/** @type {Error} */ (error).message}\n`);
    return 1;
  } finally {
    await bench.close();
  }
}

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        quick: { type: "boolean" },
        only: { type: "string", multiple: true },
        json: { type: "string" },
        "no-fail": { type: "boolean" },
        daemon: { type: "string" },
        "no-cc": { type: "boolean" },
        profile: { type: "string" },
        help: { type: "boolean", short: "h" },
      },
    });
    if (values.help) {
      process.stdout.write(HELP);
      return 0;
    }
    const unknown = values.only?.find((name) => !(name in MEASURES));
    if (unknown !== undefined) throw new Error(`--only ${unknown}: no such measure`);
    if (values.profile !== undefined && !(values.profile in PROFILES)) {
      throw new Error(`--profile ${values.profile}: no such load`);
    }
    return values;
  } catch (error) {
    process.stderr.write(`bench: ${/** @type {Error} */ (error).message}\n${HELP}`);
    return 2;
  }
}

function build() {
  process.stderr.write("bench: dist/ is missing; building\n");
  const { status } = spawnSync(process.execPath, [join(import.meta.dirname, "build.mjs")], {
    stdio: "inherit",
  });
  if (status !== 0) throw new Error("scripts/build.mjs failed");
}

/** @param {"c" | "node"} kind */
function describe(kind) {
  const language = kind === "c" ? "C" : "Node (no C compiler: the reader may be the bottleneck)";
  const others = '"others" is the share of the machine used by other work';
  return `Node ${process.versions.node}, ${availableParallelism()} cores; agent and reader in ${language}; ${others}`;
}

/**
 * @param {string} path
 * @param {"c" | "node"} kind
 * @param {import("./bench/table.mjs").Row[]} rows
 */
function writeJson(path, kind, rows) {
  const judged = rows.map((row) => ({ ...row, goals: judge(row) }));
  const report = { node: process.versions.node, cores: availableParallelism(), tools: kind, rows: judged };
  writeFileSync(path, `${JSON.stringify(report, null, 2)}\n`);
}
