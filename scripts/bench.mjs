// `npm run bench`: blemeesd against a minimal relay, same run, same fake agents, same reader, and against the last
// recorded commit. The table goes to stdout, progress to stderr.
// Exit 0: every goal met; 1: one is missed, or the run failed; 2: wrong usage.
import { writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { writeChart } from "./bench/chart.mjs";
import { judge } from "./bench/goals.mjs";
import { runGuard } from "./bench/guard.mjs";
import { CURVES, EXTRAS, MEASURES, TABLE } from "./bench/measures/index.mjs";
import { FULL, QUICK } from "./bench/plan.mjs";
import { meterOthers } from "./bench/proc.mjs";
import { PROFILES, profile } from "./bench/profile.mjs";
import { readCommit, readRecords, writeRecord } from "./bench/records.mjs";
import { formatTable } from "./bench/table.mjs";
import { runTasks } from "./bench/tasks/index.mjs";
import { prepareTools } from "./bench/tools.mjs";
import { Workbench } from "./bench/workbench.mjs";
import { prepare } from "./prepare.mjs";

const DAEMON = join(import.meta.dirname, "../dist/blemeesd.js");
const names = (/** @type {object} */ measures) => Object.keys(measures).join(", ");
const HELP = `Usage: npm run bench -- [--quick] [--all | --curves | --only NAME...] [--record] [--json FILE] [--no-fail]
       npm run bench -- --guard
       npm run bench -- --tasks
       npm run bench -- --profile NAME
Example: npm run bench -- --quick --only latency

  --quick       fewer and shorter rounds (about a minute; the full run takes about 3)
  --only NAME   one of: ${names(TABLE)};
                ${names(EXTRAS)}; ${names(CURVES)}; may be repeated
  --all         also ${names(EXTRAS)}
  --curves      only ${names(CURVES)}: how figures grow
  --record      keep the figures of this commit, and draw the chart of the last ones
  --json FILE   write every figure, with its rounds, to FILE
  --no-fail     exit 0 even when a goal is missed
  --no-cc       agent, reader and timer in Node even where a C compiler exists
  --daemon FILE measure this blemeesd.js, and the programs beside it, instead of dist/
  --guard       only check that no ratio to the relay is much worse than the recorded one
  --tasks       instead, 20 coding tasks by demian, opencode and codex on a scripted model: requests, tokens, time
  --profile NAME  instead of measuring, show where the daemon spends its time under a load:
                ${names(PROFILES)}
`;

process.exitCode = await main();

async function main() {
  const options = readOptions();
  if (typeof options === "number") return options;
  if (options.daemon === undefined) prepare();
  const bench = new Workbench();
  try {
    const commit = options.record ? readCommit() : undefined;
    const tools = prepareTools(bench.directory, { isNative: !options["no-cc"] });
    const context = (/** @type {string} */ name) => ({
      bench,
      tools,
      daemon: options.daemon ?? DAEMON,
      plan: options.quick ? QUICK : FULL,
      progress: (/** @type {string} */ text) => void process.stderr.write(`bench: ${name}: ${text}\n`),
    });
    if (options.profile !== undefined) {
      process.stdout.write(await profile(context("profile"), options.profile));
      return 0;
    }
    if (options.tasks) {
      process.stdout.write(await runTasks(context("tasks")));
      return 0;
    }
    const machine = { node: process.versions.node, cores: availableParallelism(), tools: tools.kind };
    const last = readRecords().at(-1);
    if (options.guard) return await runGuard(context("guard"), machine, last);
    const rows = await measure(chooseMeasures(options), context);
    process.stdout.write(`${describe(machine)}\n\n${formatTable(rows, last)}`);
    if (options.json !== undefined) writeJson(options.json, { ...machine, rows });
    if (commit !== undefined) keep({ ...commit, ...machine, others: averageOthers(rows), rows });
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
        all: { type: "boolean" },
        curves: { type: "boolean" },
        record: { type: "boolean" },
        json: { type: "string" },
        "no-fail": { type: "boolean" },
        daemon: { type: "string" },
        "no-cc": { type: "boolean" },
        guard: { type: "boolean" },
        tasks: { type: "boolean" },
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
    if (values.profile !== undefined && !(values.profile in PROFILES))
      throw new Error(`--profile ${values.profile}: no such load`);
    if (values.record && (values.quick || values.only || values.curves || values.daemon || values["no-cc"]))
      throw new Error("--record keeps a full run of dist/; use it alone or with --all");
    return values;
  } catch (error) {
    process.stderr.write(`bench: ${/** @type {Error} */ (error).message}\n${HELP}`);
    return 2;
  }
}

/** @param {{ only?: string[] | undefined, all?: boolean | undefined, curves?: boolean | undefined }} options */
function chooseMeasures({ only, all, curves }) {
  if (only !== undefined)
    return Object.fromEntries(Object.entries(MEASURES).filter(([name]) => only.includes(name)));
  if (curves) return CURVES;
  return all ? { ...TABLE, ...EXTRAS } : TABLE;
}

/**
 * @param {Record<string, import("./bench/measures/index.mjs").Measure>} measures
 * @param {(name: string) => import("./bench/plan.mjs").Context} context
 */
async function measure(measures, context) {
  const rows = [];
  for (const [name, run] of Object.entries(measures)) {
    const others = meterOthers();
    const found = await run(context(name));
    const share = others();
    rows.push(...found.map((row) => ({ ...row, others: share })));
  }
  return rows;
}

/** @param {{ node: string, cores: number, tools: "c" | "node" }} machine */
function describe({ node, cores, tools }) {
  const language = tools === "c" ? "C" : "Node (no C compiler: the reader may be the bottleneck)";
  const others = '"others" is the share of the machine used by other work';
  return `Node ${node}, ${cores} cores; agent, reader and timer in ${language}; ${others}`;
}

/** @param {readonly import("./bench/table.mjs").Row[]} rows */
function averageOthers(rows) {
  const sum = rows.reduce((total, { others = 0 }) => total + others, 0);
  return Math.round((sum / rows.length) * 100) / 100;
}

/** @param {Parameters<typeof writeRecord>[0]} run */
function keep(run) {
  const files = [writeRecord(run), writeChart(readRecords())];
  process.stderr.write(`bench: wrote ${files.join(" and ")}\n`);
}

/**
 * @param {string} path
 * @param {{ rows: import("./bench/table.mjs").Row[] }} report
 */
function writeJson(path, { rows, ...machine }) {
  const judged = rows.map((row) => ({ ...row, goals: judge(row) }));
  writeFileSync(path, `${JSON.stringify({ ...machine, rows: judged }, null, 2)}\n`);
}
