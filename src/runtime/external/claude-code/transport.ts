// The interface to Claude Code, whether it is run by its Agent SDK (sdk.ts) or as a program (cli.ts). Both print the same
// messages.

import { CodedError, toMessage } from "../../../base/coded-error.ts";
import { formatTail } from "../../../base/exit-message.ts";
import { defined } from "../../../base/values.ts";
import type { UserContentPart } from "../../messages.ts";

/** From the start of the process to its first message. */
export const READY_LIMIT_MS = 60_000;
/** Marks the processes that claude starts: its commands leave its process group and survive it (2.1.197). */
export const MARKER = "DEMIAN_CLAUDE_ID";

/** One message to Claude Code. */
export interface ClaudeOrder {
  prompt: string;
  /** Sent after the prompt, in order: `data:` or http(s) URLs (images.ts). */
  images: readonly UserContentPart[];
  /** Appended to Claude Code's own system prompt. */
  systemPrompt: string;
  model: string;
  /** Absent: its default. */
  effort?: string;
  /** Absolute, with symbolic links resolved. */
  cwd: string;
  maxTurns: number;
  /** Claude Code stops once it has spent this much; absent: no limit. */
  maxBudgetUsd?: number;
  /** The Claude Code session to resume; absent: a new one. */
  resume?: string;
  permissionMode: "default" | "plan";
  /** Every tool that its model is offered (`--tools`). Claude Code 2.1.197 has Glob and Grep only if they are listed. */
  tools: readonly string[];
  /** Globs as in a .gitignore of `cwd`: files that its searches must skip. */
  unreadable: readonly string[];
  /** Its whole environment (environment.ts). */
  env: Readonly<Record<string, string>>;
  /** The `claude` program; absent: the one that comes with the transport. */
  executable?: string;
  /** Use its `--bare` mode. */
  bare?: boolean;
  signal: AbortSignal;
  /** Called before every tool. Never rejects. */
  canUseTool(request: ToolRequest, signal: AbortSignal): Promise<ToolAnswer>;
}

/** A tool that Claude Code wants to use. */
export interface ToolRequest {
  /** "toolu_…" */
  callId: string;
  /** "Bash" */
  tool: string;
  input: Readonly<Record<string, unknown>>;
  title?: string;
  reason?: string;
  /** Claude Code's own sub-agent that asks. */
  agentId?: string;
}

/** In Claude Code's own format: sent unchanged. */
export type ToolAnswer =
  | { behavior: "allow"; updatedInput: Record<string, unknown> }
  | { behavior: "deny"; message: string; interrupt?: boolean };

/** A frame of its stream-json output: system, assistant, user, stream_event, result, … Not validated (translate.ts). */
export type ClaudeMessage = { readonly type: string } & Readonly<Record<string, unknown>>;

export interface ClaudeTransport {
  /**
   * Ends after the result, once no process of it is left. If the signal aborts, Claude Code is interrupted, its remaining
   * messages follow (perhaps without a result), and the iteration ends without an error. Throws `ClaudeFailure` if Claude
   * Code could not be run or died without a result.
   */
  run(order: ClaudeOrder): AsyncIterable<ClaudeMessage>;
}

/**
 * `not_installed`: the SDK or the program is missing. `start_failed`: it is installed but does not start.
 * `died`: it ended without a result; the message has the end of its stderr.
 */
export type ClaudeFailureCode = "not_installed" | "start_failed" | "died";

export class ClaudeFailure extends CodedError {
  declare readonly code: ClaudeFailureCode;

  constructor(code: ClaudeFailureCode, message: string, cause?: unknown) {
    super(code, message, defined({ cause }));
    this.name = "ClaudeFailure";
  }
}

/** From the `spawn_failed` of base/child.ts. */
export function toStartFailure(cause: unknown): ClaudeFailure {
  const isMissing = cause instanceof CodedError && cause.data?.["reason"] === "not_found";
  return new ClaudeFailure(isMissing ? "not_installed" : "start_failed", toMessage(cause), cause);
}

/** Adds the end of stderr to a message. */
export function describeFailure(message: string, stderr: readonly string[]): string {
  return stderr.length === 0 ? message : `${message}; stderr: ${formatTail(stderr, " | ")}`;
}
