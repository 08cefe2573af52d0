// Every backend of the daemon. To add one: a folder, and a line here.
import type { Log } from "../base/log.ts";
import { createClaudeBackend } from "./claude/index.ts";
import { createCodexBackend } from "./codex/index.ts";
import type { Transport } from "./codex/program.ts";
import { createDemoBackend } from "./demo/index.ts";
import type { Backend } from "./types.ts";

export interface BackendsConfig {
  claude_bin: string;
  codex_bin: string;
  codex_transport: "auto" | Transport;
  codex_process: "shared" | "per-session";
  codex_retry_s: number;
  codex_allow_config: readonly string[];
  max_line_bytes: number;
}

/** `log` is for what concerns no session. */
export function createBackends(config: BackendsConfig, env: NodeJS.ProcessEnv, log?: Log): Backend[] {
  const maxLineBytes = config.max_line_bytes;
  return [
    createClaudeBackend({ bin: config.claude_bin, env, maxLineBytes }),
    createCodexBackend({
      bin: config.codex_bin,
      env,
      transport: config.codex_transport,
      process: config.codex_process,
      retryLimitMs: config.codex_retry_s * 1000,
      allowConfig: config.codex_allow_config,
      maxLineBytes,
      ...(log === undefined ? {} : { log }),
    }),
    createDemoBackend(),
  ];
}
