// Our own agent, and the demo, which is the same program with a script instead of a model.

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { isObject, tryParseJson } from "../../base/json.ts";
import type { Environment } from "../types.ts";
import type { AcpSpec } from "./spec.ts";

/** The script of `demian`, and its version. */
export interface DemianProgram {
  script: string;
  version: string;
}

const READY_LIMIT_MS = 10_000;

/** One process for all its sessions: each costs only a few megabytes. */
export function createDemianSpec({ script, version }: DemianProgram, env: Environment): AcpSpec {
  return {
    ...own(script, version),
    name: "demian",
    args: [script, "acp"],
    hasAgentModes: true,
    isReady: () => isReady(script, env),
  };
}

export function createDemoSpec({ script, version }: DemianProgram): AcpSpec {
  return { ...own(script, version), name: "demo", args: [script, "acp", "--demo"] };
}

function own(script: string, version: string) {
  return {
    command: process.execPath,
    process: "shared" as const,
    isOurs: true,
    version,
    needs: [script],
    advice: "reinstall blemees",
  };
}

/** Whether it has a model. Only demian itself knows; without one it still starts when requested by name. */
async function isReady(script: string, env: Environment): Promise<boolean> {
  // No preset has a model: without a configuration there is nothing to check.
  const home = env["HOME"] || homedir();
  if (!existsSync(join(home, ".demian", "config.json"))) return false;
  return new Promise((resolve) => {
    const options = { env: { ...env }, timeout: READY_LIMIT_MS, cwd: "/" };
    execFile(process.execPath, [script, "list-providers", "--json"], options, (error, stdout) => {
      resolve(error === null && hasReady(stdout));
    });
  });
}

function hasReady(stdout: string): boolean {
  const rows = tryParseJson(stdout);
  return Array.isArray(rows) && rows.some((row) => isObject(row) && row["isReady"] === true);
}
