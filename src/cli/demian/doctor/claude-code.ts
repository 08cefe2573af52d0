// Checks that Claude Code can run here and is logged in.
import { toMessage } from "../../../base/coded-error.ts";
import { CapabilityProbe } from "../../../runtime/external/claude-code/cli-capabilities.ts";
import { buildClaudeEnvironment } from "../../../runtime/external/claude-code/environment.ts";
import { findInstalled } from "../../../runtime/external/claude-code/installed.ts";
import { findLoginProblem } from "../../../runtime/external/claude-code/login.ts";
import type { ClaudeCodeConfig } from "../../../runtime/providers/registry-types.ts";
import type { Env } from "../../../runtime/state-dir.ts";
import type { Check } from "../../checks.ts";

export interface ClaudeCodeOrder {
  /** The provider's key. */
  key: string;
  provider: ClaudeCodeConfig;
  env: Env;
  isUsed: boolean;
}

const NAME = "claude code";

/** Reports problems only if the provider is used. */
export async function checkClaudeCode(order: ClaudeCodeOrder): Promise<Check[]> {
  const checks = [await checkInstalled(order), await checkLogin(order)];
  const isWell = checks.every(({ status }) => status === "ok");
  return isWell || order.isUsed ? checks : [];
}

async function checkInstalled({ key, provider, env }: ClaudeCodeOrder): Promise<Check> {
  try {
    const program = findInstalled(key, provider, env);
    const sdk = provider.runtime === "agent-sdk" ? ["the Agent SDK is installed"] : [];
    if (program === undefined) return { name: NAME, status: "ok", text: sdk.join() };
    const { version } = await new CapabilityProbe().find(program, buildClaudeEnvironment(env, provider));
    return { name: NAME, status: "ok", text: [...sdk, `Claude Code ${version} (${program})`].join(", ") };
  } catch (error) {
    return { name: NAME, status: "warn", text: toMessage(error) };
  }
}

async function checkLogin({ provider, env }: ClaudeCodeOrder): Promise<Check> {
  const missing = await findLoginProblem(buildClaudeEnvironment(env, provider));
  if (missing !== undefined) return { name: NAME, status: "warn", text: missing };
  return { name: NAME, status: "ok", text: "logged in" };
}
