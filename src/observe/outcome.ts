// How a call of a tool ended, from its result and from what is known about it. sm#288 tells five ends apart.
import { isObject } from "../base/json.ts";
import { isCut, isDeclined } from "../protocol/cut-calls.ts";
import type { NotRunReason } from "../protocol/not-run.ts";
import { type Asks, notRun } from "./asks.ts";
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
  /** Its agent tells the exit code of every command that failed, so that one which did not has code 0. */
  tellsExitCode: boolean;
  asks: Asks | undefined;
}

const MAX_MESSAGE_CHARS = 500;
/** An exit code or a reason is at the beginning or at the end. */
const EDGE_CHARS = 400;

const TIMED_OUT = /\bcommand timed out after \d/i;
const EXIT_CODE = /^(?:Error: )?Exit code (-?\d{1,9})\b|\[exit code (-?\d{1,9})\]\s*$/i;

/** Undefined: it was cut off, and by what is known only from what comes next. */
export function outcomeOf(ended: Ended): Outcome | undefined {
  const { output, isError, isCommand, tellsExitCode, asks } = ended;
  if (!isError) {
    const exit_code = isCommand && tellsExitCode ? { exit_code: 0 } : {};
    return { event_type: "completed", final_status: "success", ...exit_code };
  }
  const edges = `${output.slice(0, EDGE_CHARS)}\n${output.slice(-EDGE_CHARS).trimEnd()}`;
  const message = messageIn(output);
  if (isDeclined(output)) {
    return { ...notRunOutcome("declined", asks), ...message };
  }
  const reason = notRun(asks, "withdrawn");
  if (reason === "withdrawn" || (reason === undefined && isCut(output))) return undefined;
  if (reason !== undefined) return { ...notRunOutcome(reason, asks), ...message };
  const exit_code = isCommand ? exitCodeIn(edges) : {};
  if (TIMED_OUT.test(edges)) return { ...end("timeout", "tool_timeout"), ...exit_code, ...message };
  const error_code = "exit_code" in exit_code ? "exit_code" : "tool_error";
  return { ...end("failed", error_code), ...exit_code, ...message };
}

/** The end of a call that has no result of its own. */
export function end(
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
export function notRunOutcome(not_run: NotRunReason, asks?: Asks, error_message?: string): Outcome {
  const isCancelled = not_run === "declined" && [...(asks?.verdicts.values() ?? [])].includes("cancelled");
  const [event_type, error_code] = isCancelled
    ? (["cancelled", "cancelled_by_user"] as const)
    : NOT_RUN_ENDS[not_run];
  return { ...end(event_type, error_code, error_message), not_run };
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
export function outputText(output: unknown): string {
  if (typeof output === "string") return output;
  if (!Array.isArray(output)) return "";
  return output
    .filter(isObject)
    .map(({ text }) => text)
    .filter((text) => typeof text === "string")
    .join("\n");
}

function exitCodeIn(edges: string): { exit_code?: number } {
  const [, first, last] = EXIT_CODE.exec(edges) ?? [];
  const code = first ?? last;
  return code === undefined ? {} : { exit_code: Number(code) };
}

function messageIn(output: string): { error_message?: string } {
  return output === "" ? {} : { error_message: cutText(output, MAX_MESSAGE_CHARS) };
}
