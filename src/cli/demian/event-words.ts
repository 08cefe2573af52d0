// What the runtime tells beside its answer, in words for a person: the same in lines and on the screen. Pure.
import { revealLine, sanitizeLine } from "../../base/sanitize.ts";
import type { RuntimeEvent } from "../../runtime/events.ts";
import { cutTo } from "../bar.ts";
import { seconds } from "./spent.ts";

/** Of demian's own there is none. */
const BADGES: Readonly<Record<string, string>> = { claudecode: "CC" };

type Of<T extends RuntimeEvent["type"]> = Extract<RuntimeEvent, { type: T }>;

export interface Words {
  level: "info" | "warn";
  text: string;
}

/** Undefined: nobody needs to be told. */
export function eventWords(event: RuntimeEvent): Words | undefined {
  switch (event.type) {
    case "provider.retry":
      return warn(
        `${sanitizeLine(event.provider)}: ${sanitizeLine(event.reason)}; again in ${seconds(event.delayMs)} (${event.attempt} of ${event.maxAttempts})`,
      );
    case "hook.fired":
      if (event.decision !== "warn" && event.decision !== "block") return undefined;
      return warn(`hook ${sanitizeLine(event.hook)} ${hookText(event)}`);
    case "hook.failed":
      return warn(
        `hook ${sanitizeLine(event.hook)} failed${event.blocked ? " and so blocked" : ""}: ${sanitizeLine(event.message)}`,
      );
    case "permission.denied":
      return warn(deniedText(event));
    case "context.compacted":
      // Whoever asked for it is told by the one who did it.
      return event.manual ? undefined : { level: "info", text: compactedText(event) };
    case "session.context.split":
      return { level: "info", text: `${badgeOf(event.executor)}${sanitizeLine(event.message)}` };
    case "warning":
      return warn(sanitizeLine(event.message));
    default:
      return undefined;
  }
}

export function compactedText(report: {
  beforeTokens: number;
  afterTokens: number;
  dropped: number;
  kept: number;
}): string {
  const { beforeTokens, afterTokens, dropped, kept } = report;
  return `compacted: about ${beforeTokens} tokens became ${afterTokens}; ${kept} messages kept, ${dropped} summarised`;
}

/** Who runs it, where it is not demian. */
export function badgeOf(executor: string | undefined): string {
  if (executor === undefined) return "";
  return `${Object.hasOwn(BADGES, executor) ? BADGES[executor] : cutTo(revealLine(executor), 20)} `;
}

function warn(text: string): Words {
  return { level: "warn", text };
}

function hookText({ decision, message }: Of<"hook.fired">): string {
  const says = decision === "block" ? "blocks" : "warns";
  return message === undefined ? says : `${says}: ${sanitizeLine(message)}`;
}

function deniedText({ by, targetType, targetName, reason }: Of<"permission.denied">): string {
  const who = by === "nobody" ? "nobody to ask" : sanitizeLine(by).replaceAll("_", " ");
  const what = `${targetType === "agent" ? "agent " : ""}${cutTo(revealLine(targetName), 60)}`;
  return `not allowed (${who}): ${what}${reason === undefined ? "" : `; ${sanitizeLine(reason)}`}`;
}
