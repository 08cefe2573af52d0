// Checks the rules file of `sm policy`, and the audit.
import { dirname, join } from "node:path";
import { checkChainFiles } from "../../../base/chain/files.ts";
import { toMessage } from "../../../base/coded-error.ts";
import { readPrivate } from "../../../base/private-file.ts";
import type { Check } from "../../checks.ts";
import { findStateDirectory, getConfigFile } from "../state-directory.ts";
import type { CheckContext } from "./check.ts";

export async function checkPolicy({ env }: CheckContext): Promise<Check> {
  const name = "policy";
  const path = join(dirname(getConfigFile(env)), "policy.toml");
  try {
    const text = await readPrivate(path);
    if (text === undefined) return { name, status: "ok", text: "no rules: every request is asked" };
    // Loaded only if there is a file.
    const { parseRules } = await import("../../../protocol/policy-file.ts");
    const { length } = parseRules(text, path);
    return { name, status: "ok", text: `${length} ${length === 1 ? "rule" : "rules"} in ${path}` };
  } catch (error) {
    const todo =
      "fix the file; until then a running daemon keeps the last good rules, and a new one has none";
    return { name, status: "fail", text: toMessage(error), todo };
  }
}

export async function checkAudit({ env }: CheckContext): Promise<Check> {
  const name = "audit";
  try {
    const { fault, lines } = checkChainFiles(await findStateDirectory(env), "audit");
    if (fault === undefined) return { name, status: "ok", text: `intact, ${lines} lines` };
    return { name, status: "warn", text: `line ${fault.n} ${fault.fault}`, todo: "see `sm audit verify`" };
  } catch (error) {
    return { name, status: "warn", text: toMessage(error), todo: "check the state directory" };
  }
}
