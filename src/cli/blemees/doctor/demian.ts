// Checks demian with its own doctor: is a provider ready, and does its sandbox work.

import { execFile } from "node:child_process";
import { isObject, tryParseJson } from "../../../base/json.ts";
import { defined } from "../../../base/values.ts";
import type { Check } from "../../checks.ts";
import type { CheckContext } from "./check.ts";
import { checkSandbox } from "./machine.ts";

const DOCTOR_TIMEOUT_MS = 15_000;

export async function checkDemian(patient: CheckContext): Promise<Check[]> {
  const found = await askDoctor(patient);
  if (found === undefined) {
    const todo = "rebuild or reinstall blemees, then run `demian doctor` to see why";
    return [
      { name: "demian", status: "fail", text: "`demian doctor` gives no answer", todo },
      await checkSandbox(patient),
    ];
  }
  const { sandbox } = found;
  return [agentRow(found), ...(sandbox === undefined ? [] : [sandboxRow(sandbox)])];
}

type Found = Partial<Record<"config" | "provider" | "providers" | "sandbox", Check>>;

function agentRow({ config, provider, providers }: Found): Check {
  const name = "demian";
  if (config?.status === "fail") return { ...config, name };
  if (provider?.status === "ok") return { name, status: "ok", text: provider.text };
  if (providers?.status !== "ok") {
    const todo = "`demian list-providers` shows what each one needs; set keys in the daemon's environment";
    return { name, status: "warn", text: "no provider is ready", todo };
  }
  const todo = "set defaultProvider in ~/.demian/config.json to one that is ready";
  return { name, status: "warn", text: provider?.text ?? "its default provider is not ready", todo };
}

/** Only a warning: other agents do not use it. */
function sandboxRow({ status, text, todo }: Check): Check {
  return {
    name: "sandbox",
    status: status === "fail" ? "warn" : status,
    text,
    ...defined({ todo }),
  };
}

function askDoctor({ demianProgram, env, signal }: CheckContext): Promise<Found | undefined> {
  return new Promise((resolve) => {
    const how = { timeout: DOCTOR_TIMEOUT_MS, signal, env: { ...env } };
    // Failed checks set the exit code, so only the output matters.
    execFile(process.execPath, [demianProgram, "doctor", "--json"], how, (_error, stdout) => {
      resolve(readChecks(stdout));
    });
  });
}

function isCheck(value: unknown): value is Check {
  if (!isObject(value)) return false;
  const { name, status, text, todo } = value;
  const isWord = status === "ok" || status === "warn" || status === "fail";
  const hasTexts = typeof name === "string" && typeof text === "string";
  return hasTexts && isWord && (todo === undefined || typeof todo === "string");
}

/** The first row of each name, or the one that failed. */
function readChecks(text: string): Found | undefined {
  const answer = tryParseJson(text);
  const checks: unknown = isObject(answer) ? answer["checks"] : undefined;
  if (!Array.isArray(checks) || !checks.every(isCheck)) return undefined;
  const found: Record<string, Check> = {};
  for (const check of checks) {
    if (found[check.name] === undefined || check.status === "fail") found[check.name] = check;
  }
  return found;
}
