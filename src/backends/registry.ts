// Every backend of the daemon. To add one: a folder, and a line here.
import { createClaudeBackend } from "./claude/index.ts";
import { createDemoBackend } from "./demo/index.ts";
import type { Backend } from "./types.ts";

export interface BackendsConfig {
  claude_bin: string;
  max_line_bytes: number;
}

export function createBackends(config: BackendsConfig, env: NodeJS.ProcessEnv): Backend[] {
  return [
    createClaudeBackend({ bin: config.claude_bin, env, maxLineBytes: config.max_line_bytes }),
    createDemoBackend(),
  ];
}
