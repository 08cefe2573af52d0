// All backends of the daemon. To add one: a folder, and a line here.

import type { Log } from "../base/log.ts";
import { defined } from "../base/values.ts";
import { createDemianSpec, type DemianProgram } from "./acp/demian.ts";
import { createDemoBackend } from "./acp/demo.ts";
import { createAcpBackend } from "./acp/index.ts";
import type { AcpSpec } from "./acp/spec.ts";
import { createClaudeBackend } from "./claude/index.ts";
import { createCodexBackend } from "./codex/index.ts";
import type { Transport } from "./codex/program.ts";
import type { RunsHost } from "./runs-host.ts";
import type { Backend } from "./types.ts";

export interface BackendsConfig {
  claude_bin: string;
  codex_bin: string;
  codex_transport: "auto" | Transport;
  codex_process: "shared" | "per-session";
  codex_retry_s: number;
  codex_allow_config: readonly string[];
  max_line_bytes: number;
  /** ACP agents, by name. */
  agents?: Readonly<Record<string, AgentSettings>>;
}

/** One `[agents.NAME]`. */
export interface AgentSettings {
  command: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  process: "shared" | "per-session";
  cwd?: string | undefined;
  cwd_within?: readonly string[] | undefined;
  model?: string | undefined;
  mode?: string | undefined;
  config: Readonly<Record<string, string | boolean>>;
  stall_s: number;
  start_s: number;
}

export interface BackendsParts {
  env: NodeJS.ProcessEnv;
  /** For messages that concern no session. */
  log?: Log;
  demian: DemianProgram;
  /** Absent: agents end with the daemon. */
  runs?: RunsHost | undefined;
}

export function createBackends(config: BackendsConfig, parts: BackendsParts): Backend[] {
  const { env, log, demian, runs } = parts;
  const maxLineBytes = config.max_line_bytes;
  const host = { env, maxLineBytes, runs, ...defined({ log }) };
  const specs = [
    createDemianSpec(demian, env),
    ...Object.entries(config.agents ?? {}).map(([name, settings]) => toSpec(name, settings)),
  ];
  return [
    createClaudeBackend({ bin: config.claude_bin, env, maxLineBytes, runs }),
    createCodexBackend({
      bin: config.codex_bin,
      env,
      transport: config.codex_transport,
      process: config.codex_process,
      retryLimitMs: config.codex_retry_s * 1000,
      allowConfig: config.codex_allow_config,
      maxLineBytes,
      runs,
      ...defined({ log }),
    }),
    ...specs.map((spec) => createAcpBackend(spec, host)),
    createDemoBackend(demian, host),
  ];
}

function toSpec(name: string, settings: AgentSettings): AcpSpec {
  const { cwd, cwd_within, model, mode, stall_s, start_s, ...rest } = settings;
  return {
    name,
    ...rest,
    ...defined({ cwd, cwdWithin: cwd_within, model, mode }),
    stallMs: stall_s * 1000,
    handshakeMs: start_s * 1000,
  };
}
