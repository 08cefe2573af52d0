// Decisions of the policy over 100 rules, as the ledger asks for them: with the facts of each request from the file system.
// Per second of CPU, all threads included: many requests at once, then the time of one alone.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bundle } from "../bundle.mjs";
import { toRow } from "../rounds.mjs";

const RULES = 100;
const DIRECTORIES = 8;
/** Requests that wait at the same time, of as many sessions. */
const AT_ONCE = 64;
const ROUNDS = 5;

/** @param {import("../plan.mjs").Context} context */
export async function policy({ bench, plan, progress }) {
  progress(`${ROUNDS} times ${plan.decisions} decisions over ${RULES} rules`);
  const { Policy } = await bundle(bench, ["sessions/policy/policy.ts"]);
  const dirs = Array.from({ length: DIRECTORIES }, () => bench.makeDirectory());
  for (const dir of dirs) {
    mkdirSync(join(dir, "src"));
    writeFileSync(join(dir, "src/a.txt"), "");
  }
  const path = join(bench.makeDirectory(), "policy.toml");
  writeFileSync(path, Array.from({ length: RULES }, (_none, at) => formatRule(at, dirs)).join("\n"), {
    mode: 0o600,
  });
  const rules = new Policy({
    ...{ path, agentPath: process.env["PATH"], changed: () => undefined },
    store: { ruleUses: async () => [], requests: async () => [] },
    log: { info: () => undefined, warn: () => undefined, error: fail },
    findSession: async () => undefined,
  });
  const counts = { allow: 0, deny: 0, ask: 0 };
  const decide = async (/** @type {number} */ at) => {
    const cwd = dirs[at % DIRECTORIES] ?? "";
    const session = { session_id: `s${at % AT_ONCE}`, backend: "x", cwd, options: { cwd } };
    const { answer } = (await rules.decide(makeRequest(at, cwd), session)) ?? {};
    counts[answer === undefined ? "ask" : answer.decision === "accept" ? "allow" : "deny"] += 1;
  };
  const many = async (/** @type {number} */ decisions, /** @type {number} */ atOnce) => {
    let next = 0;
    const worker = async () => {
      for (let at = next++; at < decisions; at = next++) await decide(at);
    };
    await Promise.all(Array.from({ length: atOnce }, worker));
  };
  await many(plan.decisions / 4, AT_ONCE);
  /** @type {number[]} */
  const rates = [];
  /** @type {number[]} */
  const alone = [];
  for (let round = 0; round < ROUNDS; round++) {
    const before = process.cpuUsage();
    await many(plan.decisions, AT_ONCE);
    const { user, system } = process.cpuUsage(before);
    rates.push((plan.decisions * 1e6) / (user + system));
    const start = performance.now();
    await many(plan.decisions / 100, 1);
    alone.push((performance.now() - start) / (plan.decisions / 100));
  }
  if (Object.values(counts).includes(0))
    throw new Error(`policy: not every decision occurs: ${JSON.stringify(counts)}`);
  return [
    toRow({ id: "policy.rate", measure: "policy decisions per second of CPU", store: "", unit: "/s" }, rates),
    toRow({ id: "policy.alone", measure: "one policy decision alone", store: "", unit: "ms" }, alone),
  ];
}

/** @param {string} _event @param {object} fields @returns {never} */
function fail(_event, fields) {
  throw new Error(`policy: ${JSON.stringify(fields)}`);
}

/** Of each kind: exact words, holes, files, and the directory that a rule is for. @param {number} at @param {string[]} dirs */
function formatRule(at, dirs) {
  const argv = at % 5 === 0 ? ["wc", "-l", "<path-within-cwd>"] : ["git", "show", "<rev>", `--unified=${at}`];
  const then = at % 10 === 1 ? "deny" : "allow";
  const place = `cwd_within = ${JSON.stringify(dirs[at % DIRECTORIES])}`;
  return `[[rules]]\nid = "r${at}"\nthen = "${then}"\n[rules.when]\nbackend = "x"\nargv = ${JSON.stringify(argv)}\n${place}\n`;
}

/** @param {number} at @param {string} cwd */
function makeRequest(at, cwd) {
  const command = at % 5 === 0 ? "wc -l src/a.txt" : `git show v${at} --unified=${at % 120}`;
  const payload = {
    title: command,
    tool_name: "shell",
    command,
    cwd,
    choices: [{ decision: "accept" }, { decision: "decline" }],
  };
  return { backend: "x", request_type: "command", request_id: `req_${at}`, session_id: "s", payload };
}
