// Claude Code as an external agent that is selected like a provider.

import { toMessage } from "../../../base/coded-error.ts";
import { defined } from "../../../base/values.ts";
import type { ClaudeCodeConfig, ProviderContext } from "../../providers/registry-types.ts";
import { createUsage } from "../../usage.ts";
import type { ExternalRuntime } from "../types.ts";
import { findInstalled } from "./installed.ts";
import { EXECUTOR } from "./translate-tools.ts";
import type { ClaudeTransport } from "./transport.ts";
import type { ProcessSpend } from "./usage-ledger.ts";

/** Shared by all sessions of the process, for budgets. */
const PROCESS_SPEND: ProcessSpend = { days: [], warned: new Set() };

/** Throws `CodedError` if something has to be installed or configured first. Loads and starts nothing yet. */
export function createClaudeCode(config: ClaudeCodeConfig, { key, env }: ProviderContext): ExternalRuntime {
  const executable = findInstalled(key, config, env);
  let transport: Promise<ClaudeTransport> | undefined;
  return {
    executor: EXECUTOR,
    defaultDecision: config.defaultDecision,
    async plan(call, workspace) {
      const { isHarmless, prepareClaudeTool } = await import("./tools.ts");
      const { category, ...plan } = await prepareClaudeTool(call, workspace);
      return { ...plan, isHarmless: isHarmless(category) };
    },
    async run(turn) {
      try {
        transport ??= loadTransport(config.runtime);
        const [{ runClaudeTurn }, loaded] = await Promise.all([import("./run.ts"), transport]);
        const program = defined({ executable });
        return await runClaudeTurn({ config, transport: loaded, spend: PROCESS_SPEND, ...program }, turn);
      } catch (error) {
        // A part of demian is missing, or was replaced while it was running.
        const message = `could not load the Claude Code runtime: ${toMessage(error)}; reinstall demian`;
        return { outcome: "failed", text: "", turns: 0, usage: createUsage(), message };
      }
    },
  };
}

async function loadTransport(runtime: ClaudeCodeConfig["runtime"]): Promise<ClaudeTransport> {
  if (runtime === "cli") return new (await import("./cli.ts")).CliTransport();
  return new (await import("./sdk.ts")).SdkTransport();
}
