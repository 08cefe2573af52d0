// `sm audit`: the record of answers and policy changes. Reads the files itself: it works without the daemon, and does not
// rely on what the daemon says about its own record.
import { readFileSync } from "node:fs";
import { checkChainFiles, listChainFiles } from "../../base/chain/files.ts";
import { parseLine, splitLines } from "../../base/chain/verify.ts";
import { asObject, asText } from "../../base/values.ts";
import { type Arguments, defineFlag, didYouMean, readNumberFlag, UsageError } from "../command.ts";
import { formatTable, show } from "../output.ts";
import type { BlemeesCommand, BlemeesContext } from "./command.ts";
import { findStateDirectory } from "./state-directory.ts";

const NAME = "audit";
const ACTIONS = ["list", "verify"];
const DEFAULT_LINES = 50;

export const AUDIT: BlemeesCommand = {
  name: "audit",
  usage: "audit [list|verify]",
  summary: "list answers and policy changes, or check that their record was not changed",
  words: [0, 1],
  completes: ACTIONS,
  flags: [
    defineFlag("-n, --lines N", `list: the last N lines (default ${DEFAULT_LINES})`),
    defineFlag("--from N", "verify: the first line to check, if older files were removed (default 1)"),
  ],
  examples: ["audit", "audit list -n 200 --json", "audit verify"],
  notes: [
    "Reads audit.ndjson in the state directory; the daemon need not run. Exit status of verify: 0 intact, 1 not.",
  ],
  run(given, context) {
    const [action = "list"] = given.words;
    if (action === "list") return listLines(given, context);
    if (action === "verify") return verify(given, context);
    throw new UsageError(`unknown action "${action}"${didYouMean(action, ACTIONS)}`);
  },
};

async function listLines(given: Arguments, context: BlemeesContext): Promise<number> {
  const limit = readNumberFlag(given, "lines", { least: 1, isWhole: true }) ?? DEFAULT_LINES;
  const files = listChainFiles(await findStateDirectory(context.env), NAME);
  const all = files.flatMap((file) => splitLines(readFileSync(file)).lines);
  const lines = all.slice(-limit).map((line) => parseLine(line) ?? {});
  if (lines.length === 0 && !context.isJson) context.output.note("The audit is empty");
  return show(context, { lines }, () => formatTable(lines.map(toCells), context.output.columns));
}

function toCells(line: Record<string, unknown>): string[] {
  const { n, at_ms, kind, decision, rule_id, source, answered_by, change, rule, by, request_id, title } =
    line;
  const at = typeof at_ms === "number" ? new Date(at_ms).toISOString().replace(/\.\d+Z$/, "Z") : "";
  const head = [String(n), at];
  if (kind === "policy") {
    const id = asText(asObject(rule)["id"]) ?? "";
    return [...head, `policy ${String(change)}`, asText(by) ?? "edited file", id];
  }
  if (kind !== "answer") return [...head, String(kind), "", asText(line["why"]) ?? ""];
  const who =
    asText(rule_id) === undefined
      ? (asText(asObject(answered_by)["actor"]) ?? "")
      : `rule ${String(rule_id)}`;
  const via = asText(asObject(answered_by)["via"]) ?? asText(source) ?? "";
  return [
    ...head,
    String(decision),
    `${who}${via === "" ? "" : ` (${via})`}`,
    `${String(request_id)}  ${String(title)}`,
  ];
}

async function verify(given: Arguments, context: BlemeesContext): Promise<number> {
  const from = readNumberFlag(given, "from", { least: 1, isWhole: true });
  const directory = await findStateDirectory(context.env);
  const report = checkChainFiles(directory, NAME, from);
  const { fault, lines } = report;
  const text =
    fault === undefined
      ? `intact: ${lines} lines${lines === 0 ? "" : ` (${report.first_n} to ${report.last_n})`}`
      : `line ${fault.n} (${fault.file}:${fault.line}) ${fault.fault}`;
  await show(context, report, () => [text]);
  return fault === undefined ? 0 : 1;
}
