// Text of runtime events that are neither messages nor tool calls, for the plain chat and the screen. Pure.
import { revealLine, sanitizeLine } from "../../base/sanitize.ts";
import type { RuntimeEvent } from "../../runtime/events.ts";
import { formatJobEnd } from "../../runtime/jobs/jobs.ts";
import { truncate } from "../bar.ts";
import { formatSeconds } from "./usage-text.ts";

/** demian's own tools have no badge. */
const BADGES: Readonly<Record<string, string>> = { claudecode: "CC" };

type EventOf<T extends RuntimeEvent["type"]> = Extract<RuntimeEvent, { type: T }>;

export interface EventText {
  level: "info" | "warn";
  text: string;
}

/** Undefined if the event is not shown. */
export function describeEvent(event: RuntimeEvent): EventText | undefined {
  switch (event.type) {
    case "provider.retry":
      return warn(
        `${sanitizeLine(event.provider)}: ${sanitizeLine(event.reason)}; retrying in ${formatSeconds(event.delayMs)} (${event.attempt} of ${event.maxAttempts})`,
      );
    case "hook.fired":
      if (event.decision !== "warn" && event.decision !== "block") return undefined;
      return warn(`hook ${sanitizeLine(event.hook)} ${describeHook(event)}`);
    case "hook.failed":
      return warn(
        `hook ${sanitizeLine(event.hook)} failed${event.blocked ? " and blocked the action" : ""}: ${sanitizeLine(event.message)}`,
      );
    case "permission.denied":
      return warn(describeDenial(event));
    case "context.compacted":
      // The command that compacted reports it.
      return event.manual ? undefined : { level: "info", text: formatCompaction(event) };
    case "session.context.split":
      return { level: "info", text: `${formatBadge(event.executor)}${sanitizeLine(event.message)}` };
    case "job.ended":
      return { level: "info", text: sanitizeLine(formatJobEnd(event)) };
    case "plan.updated":
      return { level: "info", text: formatPlan(event) };
    case "warning":
      return warn(sanitizeLine(event.message));
    default:
      return undefined;
  }
}

const STEP_MARKS = { completed: "[x]", in_progress: "[>]", pending: "[ ]" } as const;

function formatPlan({ steps }: EventOf<"plan.updated">): string {
  const done = steps.filter(({ status }) => status === "completed").length;
  const lines = steps.map(({ text, status }) => `  ${STEP_MARKS[status]} ${sanitizeLine(text)}`);
  return [`plan: ${done} of ${steps.length} done`, ...lines].join("\n");
}

export function formatCompaction(report: {
  beforeTokens: number;
  afterTokens: number;
  dropped: number;
  kept: number;
}): string {
  const { beforeTokens, afterTokens, dropped, kept } = report;
  return `compacted from about ${beforeTokens} to ${afterTokens} tokens; ${kept} messages kept, ${dropped} summarized`;
}

/** Marks a tool that another program runs. */
export function formatBadge(executor: string | undefined): string {
  if (executor === undefined) return "";
  return `${Object.hasOwn(BADGES, executor) ? BADGES[executor] : truncate(revealLine(executor), 20)} `;
}

function warn(text: string): EventText {
  return { level: "warn", text };
}

function describeHook({ decision, message }: EventOf<"hook.fired">): string {
  const what = decision === "block" ? "blocked it" : "warned";
  return message === undefined ? what : `${what}: ${sanitizeLine(message)}`;
}

function describeDenial({ by, targetType, targetName, reason }: EventOf<"permission.denied">): string {
  const who = by === "nobody" ? "no one to ask" : sanitizeLine(by).replaceAll("_", " ");
  const what = `${targetType === "agent" ? "agent " : ""}${truncate(revealLine(targetName), 60)}`;
  return `denied (${who}): ${what}${reason === undefined ? "" : `; ${sanitizeLine(reason)}`}`;
}
