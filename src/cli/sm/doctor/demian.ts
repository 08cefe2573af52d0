// Our own agent, as its own doctor sees it in this directory: can it be asked, and does its sandbox hold.
import { execFile } from "node:child_process";
import { isObject } from "../../../base/json.ts";
import type { Check, Patient } from "./check.ts";
import { checkSandbox } from "./machine.ts";

const DOCTOR_TIMEOUT_MS = 15_000;

export async function checkDemian(patient: Patient): Promise<Check[]> {
  const found = await askDoctor(patient);
  if (found === undefined) {
    const todo = "build or install blemees again, then run `demian doctor` to see why";
    return [
      { name: "demian", status: "fail", text: "its own doctor gives no answer", todo },
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
    const todo = "`demian list-providers` says what each one needs; keys must be set where the daemon starts";
    return { name, status: "warn", text: "no provider is ready", todo };
  }
  const todo = "set defaultProvider in ~/.demian/config.json to one that is ready";
  return { name, status: "warn", text: provider?.text ?? "its default provider is not ready", todo };
}

/** Other agents do without it. */
function sandboxRow({ status, text, todo }: Check): Check {
  return {
    name: "sandbox",
    status: status === "fail" ? "warn" : status,
    text,
    ...(todo === undefined ? {} : { todo }),
  };
}

function askDoctor({ demianProgram, env, signal }: Patient): Promise<Found | undefined> {
  return new Promise((resolve) => {
    const how = { timeout: DOCTOR_TIMEOUT_MS, signal, env: { ...env } };
    // Its exit code says whether all is well; only the answer counts here.
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

/** The first row of each name, or the one that fails. */
function readChecks(text: string): Found | undefined {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    return undefined;
  }
  const checks: unknown = isObject(answer) ? answer["checks"] : undefined;
  if (!Array.isArray(checks) || !checks.every(isCheck)) return undefined;
  const found: Record<string, Check> = {};
  for (const check of checks) {
    if (found[check.name] === undefined || check.status === "fail") found[check.name] = check;
  }
  return found;
}
