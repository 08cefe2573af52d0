// The configuration files: which are there, whether they can be used, and what in them is ignored.
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { CodedError } from "../../../base/coded-error.ts";
import { type ConfigOrder, type LoadedConfig, loadConfig } from "../../../runtime/config/load.ts";
import { homeDir } from "../../../runtime/state-dir.ts";
import type { Check } from "./check.ts";

export interface ConfigFound {
  checks: Check[];
  config?: LoadedConfig["config"];
}

export async function checkConfig(order: ConfigOrder): Promise<ConfigFound> {
  const directory = await checkDirectory(order.cwd);
  if (directory.status === "fail") return { checks: [directory] };
  try {
    const loaded = await loadConfig(order);
    const { config, warnings, sources } = loaded;
    const warned = warnings.map((text): Check => ({ name: "config", status: "warn", text }));
    return { checks: [directory, foundCheck(sources, order), ...warned], config };
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    return { checks: [directory, { name: "config", status: "fail", text: error.message }] };
  }
}

async function checkDirectory(cwd: string): Promise<Check> {
  const found = await stat(cwd).catch(() => undefined);
  if (found?.isDirectory()) return { name: "workspace", status: "ok", text: cwd };
  return {
    name: "workspace",
    status: "fail",
    text: `${cwd} is no directory`,
    todo: "start demian in a project, or name one with --cwd",
  };
}

function foundCheck(sources: LoadedConfig["sources"], { env }: ConfigOrder): Check {
  const used = sources.map(({ path, scope }) => `${path} (${scope})`);
  const text =
    used.length === 0
      ? `only the built-in defaults; ${join(homeDir(env), ".demian", "config.json")} would be yours`
      : used.join(", ");
  return { name: "config", status: "ok", text };
}
