// How a tool call ended: completed, failed, interrupted, cancelled or timed out.
import { isObject } from "../base/json.ts";
import { isCut, isDeclined } from "../protocol/cut-calls.ts";
import type { NotRunReason } from "../protocol/not-run.ts";
import { type Asks, explainNotRun } from "./asks.ts";
import { cutText } from "./excerpt.ts";
import type { ToolEvent } from "./types.ts";

export type Outcome = Pick<ToolEvent, "exit_code" | "error_code" | "error_message" | "not_run"> & {
  event_type: "completed" | "failed" | "interrupted" | "cancelled" | "timeout";
  final_status: "success" | "failed" | "interrupted" | "cancelled" | "timeout";
};

interface Ended {
  output: string;
  isError: boolean;
  isCommand: boolean;
  /** The agent reports the exit code of every failed command, so a successful one has code 0. */
  reportsExitCode: boolean;
  asks: Asks | undefined;
}

const MAX_MESSAGE_CHARS = 500;
/** Exit codes and reasons are at the start or the end. */
const EDGE_CHARS = 400;

const TIMED_OUT = /\bcommand timed out after \d/i;
const EXIT_CODE = /^(?:Error: )?Exit code (-?\d{1,9})\b|\[exit code (-?\d{1,9})\]\s*$/i;

/** Undefined if the call was cut off: the next frame says why. */
export function toOutcome(ended: Ended): Outcome | undefined {
  const { output, isError, isCommand, reportsExitCode, asks } = ended;
  if (!isError) {
    const exit_code = isCommand && reportsExitCode ? { exit_code: 0 } : {};
    return { event_type: "completed", final_status: "success", ...exit_code };
  }
  const edges = `${output.slice(0, EDGE_CHARS)}\n${output.slice(-EDGE_CHARS).trimEnd()}`;
  const message = toMessage(output);
  if (isDeclined(output)) {
    return { ...toNotRunOutcome("declined", asks), ...message };
  }
  const reason = explainNotRun(asks, "withdrawn");
  if (reason === "withdrawn" || (reason === undefined && isCut(output))) return undefined;
  if (reason !== undefined) return { ...toNotRunOutcome(reason, asks), ...message };
  const exit_code = isCommand ? findExitCode(edges) : {};
  if (TIMED_OUT.test(edges)) return { ...toEnd("timeout", "tool_timeout"), ...exit_code, ...message };
  const error_code = "exit_code" in exit_code ? "exit_code" : "tool_error";
  return { ...toEnd("failed", error_code), ...exit_code, ...message };
}

/** The end of a call that has no result of its own. */
export function toEnd(
  event_type: Exclude<Outcome["event_type"], "completed">,
  error_code: string,
  error_message?: string,
): Outcome {
  return {
    event_type,
    final_status: event_type,
    error_code,
    ...(error_message === undefined ? {} : { error_message: cutText(error_message, MAX_MESSAGE_CHARS) }),
  };
}

/** The end of a call that never ran. */
export function toNotRunOutcome(not_run: NotRunReason, asks?: Asks, error_message?: string): Outcome {
  const isCancelled = not_run === "declined" && [...(asks?.verdicts.values() ?? [])].includes("cancelled");
  const [event_type, error_code] = isCancelled
    ? (["cancelled", "cancelled_by_user"] as const)
    : NOT_RUN_ENDS[not_run];
  return { ...toEnd(event_type, error_code, error_message), not_run };
}

const NOT_RUN_ENDS: Readonly<
  Record<NotRunReason, readonly [Exclude<Outcome["event_type"], "completed">, string]>
> = {
  declined: ["cancelled", "declined"],
  expired: ["timeout", "request_expired"],
  withdrawn: ["cancelled", "request_withdrawn"],
  interrupted: ["interrupted", "interrupted"],
  agent_died: ["failed", "backend_crashed"],
  daemon_stopped: ["failed", "backend_crashed"],
};

/** The text of a result: a string, or the text blocks of one. */
export function joinOutput(output: unknown): string {
  if (typeof output === "string") return output;
  if (!Array.isArray(output)) return "";
  return output
    .filter(isObject)
    .map(({ text }) => text)
    .filter((text) => typeof text === "string")
    .join("\n");
}

function findExitCode(edges: string): { exit_code?: number } {
  const [, first, last] = EXIT_CODE.exec(edges) ?? [];
  const code = first ?? last;
  return code === undefined ? {} : { exit_code: Number(code) };
}

function toMessage(output: string): { error_message?: string } {
  return output === "" ? {} : { error_message: cutText(output, MAX_MESSAGE_CHARS) };
}
