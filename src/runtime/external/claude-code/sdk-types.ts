// What we use of @anthropic-ai/claude-agent-sdk (0.3.325), which is installed by whoever wants it and is no dependency.
import type { EventEmitter } from "node:events";
import type { Readable, Writable } from "node:stream";
import type { UserTurn } from "./attachments.ts";

export interface ClaudeSdk {
  query(order: { prompt: AsyncIterable<UserTurn>; options: SdkOptions }): SdkQuery;
}

/** Its messages. Throws after a result that is an error, and when Claude Code dies. */
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
  /** Flags without a value have null. */
  extraArgs?: Record<string, string | null>;
  canUseTool: SdkCanUseTool;
  hooks: { PreToolUse: { hooks: (() => Promise<unknown>)[] }[] };
  spawnClaudeCodeProcess(order: SdkSpawnOrder): SdkProcess;
}

export type SdkCanUseTool = (
  tool: string,
  input: Record<string, unknown>,
  about: SdkToolAbout,
) => Promise<unknown>;

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

/** A child process as the SDK wants it; its events are "exit" and "error". */
export interface SdkProcess extends Pick<EventEmitter, "on" | "once" | "off"> {
  stdin: Writable;
  stdout: Readable;
  readonly killed: boolean;
  readonly exitCode: number | null;
  readonly signalCode: NodeJS.Signals | null;
  kill(signal: NodeJS.Signals): boolean;
}
