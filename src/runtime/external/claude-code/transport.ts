// Between the runtime and Claude Code, however it is run (sdk.ts, cli.ts): what is ordered, what comes back. Both print
// the same messages, so that everything behind this is written once (translate.ts, can-use-tool.ts).
import { CodedError } from "../../../base/coded-error.ts";
import type { UserContentPart } from "../../messages.ts";

/** From its start to its first word. */
export const READY_LIMIT_MS = 60_000;
/** From an interrupt to its acknowledgement, and from there to the result. */
export const ACK_LIMIT_MS = 500;
export const RESULT_LIMIT_MS = 2000;
/** After the result, to write down what it remembers. */
export const FINISH_LIMIT_MS = 5000;

/** One message to Claude Code. */
export interface ClaudeOrder {
  prompt: string;
  /** After the words, in order: `data:` addresses or http(s) ones (images.ts). */
  images: readonly UserContentPart[];
  /** Added to Claude Code's own. */
  systemPrompt: string;
  model: string;
  /** Absolute and real. */
  cwd: string;
  maxTurns: number;
  /** It ends when that much was spent; absent: nobody set a limit. */
  maxBudgetUsd?: number;
  /** A session of Claude Code to go on with; absent: a new one. */
  resume?: string;
  permissionMode: "default" | "plan";
  /** All that its model is offered (`offeredTools` of tools.ts; `--tools`). Only with such a list 2.1.197 has Glob and Grep. */
  tools: readonly string[];
  /** Globs as in a .gitignore of `cwd`: what it must not come upon when it searches. */
  unreadable: readonly string[];
  /** All of its environment (environment.ts). */
  env: Readonly<Record<string, string>>;
  /** The `claude` program; absent: whatever comes with the transport. */
  executable?: string;
  /** Its `--bare` mode. */
  bare?: boolean;
  signal: AbortSignal;
  /** Asked before every tool. Never rejects. */
  canUseTool(request: ToolRequest, signal: AbortSignal): Promise<ToolAnswer>;
}

/** As Claude Code asks. */
export interface ToolRequest {
  /** "toolu_…" */
  callId: string;
  /** "Bash" */
  tool: string;
  input: Readonly<Record<string, unknown>>;
  title?: string;
  reason?: string;
  /** Its own sub-agent that wants it. */
  agentId?: string;
}

/** As Claude Code wants to be answered: this goes over the wire as it is. */
export type ToolAnswer =
  | { behavior: "allow"; updatedInput: Record<string, unknown> }
  | { behavior: "deny"; message: string; interrupt?: boolean };

/** A line of its stream-json: system, assistant, user, stream_event, result, … Not checked yet (translate.ts). */
export type ClaudeMessage = { readonly type: string } & Readonly<Record<string, unknown>>;

export interface ClaudeTransport {
  /**
   * Ends after the result, when nothing of it runs any more. When the signal aborts, Claude Code is interrupted, what it
   * still says comes (the result may be missing), and it ends without an error. Throws `ClaudeFailure` where Claude Code
   * could not be run or died without a result.
   */
  run(order: ClaudeOrder): AsyncIterable<ClaudeMessage>;
}

/**
 * `not_installed`: the SDK or the program is missing. `start_failed`: it is there and does not start.
 * `died`: it ended without a result; the message has the end of what it said on stderr.
 */
export type ClaudeFailureCode = "not_installed" | "start_failed" | "died";

export class ClaudeFailure extends CodedError {
  declare readonly code: ClaudeFailureCode;

  constructor(code: ClaudeFailureCode, message: string, cause?: unknown) {
    super(code, message, cause === undefined ? {} : { cause });
    this.name = "ClaudeFailure";
  }
}
