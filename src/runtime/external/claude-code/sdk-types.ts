// The parts of @anthropic-ai/claude-agent-sdk (0.3.325) that we use. Users install it themselves; it is not a dependency.
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import type { UserTurn } from "./attachments.ts";

export interface ClaudeSdk {
  query(order: { prompt: AsyncIterable<UserTurn>; options: SdkOptions }): SdkQuery;
}

/** Its messages. Throws after a result that is an error, and if Claude Code dies. */
export interface SdkQuery extends AsyncIterable<unknown> {
  interrupt(): Promise<unknown>;
}

export interface SdkOptions {
  cwd: string;
  env: Record<string, string>;
  model: string;
  maxTurns: number;
  maxBudgetUsd?: number;
  permissionMode: "default" | "plan";
  systemPrompt: { type: "preset"; preset: "claude_code"; append?: string };
  tools: string[];
  settingSources: string[];
  settings: Record<string, unknown>;
  strictMcpConfig: boolean;
  includePartialMessages: boolean;
  resume?: string;
  pathToClaudeCodeExecutable?: string;
  /** Null for flags without a value. */
  extraArgs?: Record<string, string | null>;
  canUseTool(tool: string, input: Record<string, unknown>, about: SdkToolAbout): Promise<unknown>;
  hooks: { PreToolUse: { hooks: (() => Promise<unknown>)[] }[] };
  spawnClaudeCodeProcess(order: SdkSpawnOrder): ChildProcessWithoutNullStreams;
}

export interface SdkToolAbout {
  signal: AbortSignal;
  toolUseID: string;
  agentID?: string;
  title?: string;
  description?: string;
  decisionReason?: string;
  decisionReasonType?: string;
}

export interface SdkSpawnOrder {
  command: string;
  args: string[];
  cwd?: string;
  env: Record<string, string | undefined>;
}
