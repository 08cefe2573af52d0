// Checks the configuration files: which exist, whether they are valid, and what is ignored in them.
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { CodedError } from "../../../base/coded-error.ts";
import { type ConfigOrder, type LoadedConfig, loadConfig } from "../../../runtime/config/load.ts";
import { getHomeDir } from "../../../runtime/state-dir.ts";
import type { Check } from "../../checks.ts";

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
    return { checks: [directory, checkSources(sources, order), ...warned], config };
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
    text: `${cwd} is not a directory`,
    todo: "start demian in a project, or give one with --cwd",
  };
}

function checkSources(sources: LoadedConfig["sources"], { env }: ConfigOrder): Check {
  const used = sources.map(({ path, scope }) => `${path} (${scope})`);
  const text =
    used.length === 0
      ? `built-in defaults only; create ${join(getHomeDir(env), ".demian", "config.json")} to change them`
      : used.join(", ");
  return { name: "config", status: "ok", text };
}
