// Claude Code as an agent of its own, selected like a provider.
import type { ClaudeCodeConfig, ProviderContext } from "../../providers/registry-types.ts";
import type { ExternalRuntime } from "../types.ts";
import { findInstalled } from "./installed.ts";
import type { ClaudeTransport } from "./transport.ts";
import type { ProcessSpend } from "./usage-ledger.ts";

/** The scope of a budget: all sessions of the process together. */
const PROCESS_SPEND: ProcessSpend = { days: [], told: new Set() };

/** Throws `CodedError` where something has to be installed or set first. Nothing is loaded and nothing is started yet. */
export function createClaudeCode(config: ClaudeCodeConfig, { key, env }: ProviderContext): ExternalRuntime {
  const executable = findInstalled(key, config, env);
  let transport: Promise<ClaudeTransport> | undefined;
  return {
    executor: "claudecode",
    defaultDecision: config.defaultDecision,
    async run(turn) {
      const { runClaudeTurn } = await import("./run.ts");
      transport ??= loadTransport(config.runtime);
      return runClaudeTurn(
        {
          config,
          transport: await transport,
          spend: PROCESS_SPEND,
          ...(executable === undefined ? {} : { executable }),
        },
        turn,
      );
    },
  };
}

async function loadTransport(runtime: ClaudeCodeConfig["runtime"]): Promise<ClaudeTransport> {
  if (runtime === "cli") return new (await import("./cli.ts")).CliTransport();
  return new (await import("./sdk.ts")).SdkTransport();
}
