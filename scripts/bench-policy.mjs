// Decisions of the policy per second: `node scripts/bench-policy.mjs`. The pure decision over 100 rules, and with the facts
// of each request collected from the file system.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";

const RULES = 100;
const PURE = 200_000;
const WITH_FACTS = 2_000;
const root = join(import.meta.dirname, "..");

const dir = mkdtempSync(join(tmpdir(), "bench-policy-"));
const outfile = join(dir, "policy.mjs");
const contents = ["decide", "facts"].map((name) => `export * from "./${name}.ts";`).join("\n");
await build({
  stdin: { contents, resolveDir: join(root, "src/sessions/policy") },
  ...{ bundle: true, platform: "node", format: "esm", target: "node20", outfile, logLevel: "silent" },
});
const { decide, collectFacts } = await import(pathToFileURL(outfile).href);
const argvOf = (at) => ["git", "show", at % 2 === 0 ? "<rev>" : `tag-${at}`, "--stat", `--unified=${at}`];
const rules = Array.from({ length: RULES }, (_none, at) => {
  const rule = { id: `r${at}`, when: { backend: "x", argv: argvOf(at), cwd_within: dir } };
  // biome-ignore lint/suspicious/noThenProperty: the name in the rules file
  return { rule: { ...rule, then: at % 10 === 0 ? "deny" : "allow" }, uses: 0 };
});
writeFileSync(join(dir, "a.txt"), "");
const asked = (at) => ({
  backend: "x",
  request_type: "command",
  payload: {
    ...{ title: "t", tool_name: "shell", cwd: dir, choices: [{ decision: "accept" }] },
    command: `git show main --stat --unified=${at % 120}`,
  },
});
const context = { path: process.env.PATH, cwd: dir };
const facts = await Promise.all(Array.from({ length: 120 }, (_none, at) => collectFacts(asked(at), context)));
const session = { session_id: "s" };

const cpu = process.cpuUsage();
for (let at = 0; at < PURE; at += 1) decide(facts[at % facts.length], session, rules, 0);
const used = process.cpuUsage(cpu);
const pureUs = (used.user + used.system) / PURE;
const start = performance.now();
for (let at = 0; at < WITH_FACTS; at += 1) decide(await collectFacts(asked(at), context), session, rules, 0);
const wholeUs = ((performance.now() - start) * 1000) / WITH_FACTS;
console.log(
  `decide over ${RULES} rules: ${pureUs.toFixed(1)} µs of CPU, ${Math.round(1e6 / pureUs)} a second`,
);
console.log(`with facts from the file system, one after another: ${wholeUs.toFixed(0)} µs each`);
rmSync(dir, { recursive: true, force: true });
