// Claude Code as an agent of its own, selected like a provider.
import { messageOf } from "../../../base/coded-error.ts";
import type { ClaudeCodeConfig, ProviderContext } from "../../providers/registry-types.ts";
import { noUsage } from "../../usage.ts";
import type { ExternalRuntime } from "../types.ts";
import { findInstalled } from "./installed.ts";
import { EXECUTOR } from "./translate-tools.ts";
import type { ClaudeTransport } from "./transport.ts";
import type { ProcessSpend } from "./usage-ledger.ts";

/** The scope of a budget: all sessions of the process together. */
const PROCESS_SPEND: ProcessSpend = { days: [], told: new Set() };

/** Throws `CodedError` where something has to be installed or set first. Nothing is loaded and nothing is started yet. */
export function createClaudeCode(config: ClaudeCodeConfig, { key, env }: ProviderContext): ExternalRuntime {
  const executable = findInstalled(key, config, env);
  let transport: Promise<ClaudeTransport> | undefined;
  return {
    executor: EXECUTOR,
    defaultDecision: config.defaultDecision,
    async plan(call, workspace) {
      const { isHarmless, planClaudeTool } = await import("./tools.ts");
      const { category, ...plan } = await planClaudeTool(call, workspace);
      return { ...plan, isHarmless: isHarmless(category) };
    },
    async run(turn) {
      try {
        transport ??= loadTransport(config.runtime);
        const [{ runClaudeTurn }, loaded] = await Promise.all([import("./run.ts"), transport]);
        const program = executable === undefined ? {} : { executable };
        return await runClaudeTurn({ config, transport: loaded, spend: PROCESS_SPEND, ...program }, turn);
      } catch (error) {
        // A part of demian is missing, or was replaced while it runs.
        const message = `the runtime of Claude Code cannot be loaded: ${messageOf(error)}; install demian again`;
        return { outcome: "failed", text: "", turns: 0, usage: noUsage(), message };
      }
    },
  };
}

async function loadTransport(runtime: ClaudeCodeConfig["runtime"]): Promise<ClaudeTransport> {
  if (runtime === "cli") return new (await import("./cli.ts")).CliTransport();
  return new (await import("./sdk.ts")).SdkTransport();
}
