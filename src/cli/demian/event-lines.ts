// An event of the runtime as a line for a person. Pure. What a sub-agent does stands below the call that started it, with
// its name; a tool that another program runs has its badge.
import { revealLine, sanitizeLine } from "../../base/sanitize.ts";
import type { RuntimeEvent } from "../../runtime/events.ts";
import type { FileChange } from "../../runtime/workspace/types.ts";
import { behindBar, cutTo } from "../bar.ts";
import { seconds, spentText } from "./spent.ts";

const MAX_TITLE = 160;
const MAX_PREVIEW_LINES = 6;
const MAX_PREVIEW_LINE = 300;
/** Of demian's own there is none. */
const BADGES: Readonly<Record<string, string>> = { claudecode: "CC" };

type Of<T extends RuntimeEvent["type"]> = Extract<RuntimeEvent, { type: T }>;

export interface Line {
  kind: "note" | "warn" | "error";
  text: string;
}

/** Undefined: nobody needs to see it. */
export function lineOf(event: RuntimeEvent, columns: number): Line | undefined {
  const { agentPath = [] } = event;
  const invoked = invocationLine(event);
  if (invoked !== undefined) return invoked;
  if (agentPath.length === 0) return ownLine(event, columns);
  const name = `${indentOf(agentPath)}${cutTo(revealLine(agentPath.at(-1) ?? ""), 40)} `;
  const line = ownLine(event, columns - name.length);
  if (line === undefined) return undefined;
  const [first = "", ...rest] = line.text.split("\n");
  const below = rest.map((row) => `${indentOf(agentPath)}${row}`);
  return { kind: line.kind, text: [`${name}${first}`, ...below].join("\n") };
}

/** How a sub-agent began and ended. */
function invocationLine(event: RuntimeEvent): Line | undefined {
  if (!("targetAgent" in event)) return undefined;
  const { agentPath = [], targetAgent } = event;
  // The one who delegates may tell it, or the one who works.
  const path = agentPath.at(-1) === targetAgent ? agentPath : [...agentPath, targetAgent];
  const name = cutTo(revealLine(targetAgent), 40);
  const begin = indentOf(path);
  switch (event.type) {
    case "agent.invocation.started": {
      const where = `${sanitizeLine(event.provider)}, ${sanitizeLine(event.model)}`;
      return {
        kind: "note",
        text: `${begin}▶ ${name} started (${where}; about ${event.handoffTokens} tokens handed over)`,
      };
    }
    case "agent.invocation.completed":
      return { kind: "note", text: `${begin}✓ ${name} done: ${spentText(event)}` };
    case "agent.invocation.failed":
      return {
        kind: "warn",
        text: `${begin}✗ ${name} failed: ${sanitizeLine(event.reason)} (${spentText(event)})`,
      };
    case "agent.invocation.cancelled":
      return {
        kind: "warn",
        text: `${begin}■ ${name} cancelled: ${sanitizeLine(event.reason)} (${spentText(event)})`,
      };
    case "agent.session.context_compacted":
      return { kind: "note", text: `${begin}${name} · ${compactedText(event)}` };
    default:
      return undefined;
  }
}

function indentOf(path: readonly string[]): string {
  return "  ".repeat(path.length);
}

function ownLine(event: RuntimeEvent, columns: number): Line | undefined {
  switch (event.type) {
    case "tool.started":
      return { kind: "note", text: startedText(event, columns) };
    case "tool.completed":
      return { kind: "note", text: `  ✓ ${endedText(event)}` };
    case "tool.failed":
      return failedLine(event, columns);
    case "provider.retry":
      return {
        kind: "warn",
        text: `! ${sanitizeLine(event.provider)}: ${sanitizeLine(event.reason)}; again in ${seconds(event.delayMs)} (${event.attempt} of ${event.maxAttempts})`,
      };
    case "hook.fired":
      if (event.decision !== "warn" && event.decision !== "block") return undefined;
      return { kind: "warn", text: `! hook ${sanitizeLine(event.hook)} ${hookText(event)}` };
    case "hook.failed":
      return {
        kind: "warn",
        text: `! hook ${sanitizeLine(event.hook)} failed${event.blocked ? " and so blocked" : ""}: ${sanitizeLine(event.message)}`,
      };
    case "permission.denied":
      return { kind: "warn", text: deniedText(event) };
    case "context.compacted":
      // Whoever asked for it is told by the one who did it.
      return event.manual ? undefined : { kind: "note", text: `· ${compactedText(event)}` };
    case "session.context.split":
      return { kind: "note", text: `· ${badgeOf(event.executor)}${sanitizeLine(event.message)}` };
    case "warning":
      return { kind: "warn", text: `! ${sanitizeLine(event.message)}` };
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

function startedText({ title, sandbox, executor }: Of<"tool.started">, columns: number): string {
  const width = Math.min(MAX_TITLE, columns - 20);
  const held = sandbox === undefined ? "" : `  [${sanitizeLine(sandbox)}]`;
  return `● ${badgeOf(executor)}${cutTo(revealLine(title), Math.max(20, width))}${held}`;
}

/** Who runs it, where it is not demian. */
function badgeOf(executor: string | undefined): string {
  if (executor === undefined) return "";
  return `${Object.hasOwn(BADGES, executor) ? BADGES[executor] : cutTo(revealLine(executor), 20)} `;
}

function endedText({ durationMs, metadata }: Of<"tool.completed">): string {
  const changes = (metadata?.changes ?? []).map(changeText);
  const { exitCode, outputFile, dryRun } = metadata ?? {};
  return [
    ...changes,
    ...(dryRun ? ["dry run: nothing was done"] : []),
    ...(exitCode === undefined ? [] : [`exit ${exitCode}`]),
    seconds(durationMs),
    ...(outputFile === undefined ? [] : [`all of its output: ${revealLine(outputFile)}`]),
  ].join(", ");
}

function changeText({ path, oldText, newText }: FileChange): string {
  const [removed, added] = countChanged(oldText ?? "", newText);
  return `${revealLine(path)} (+${added} −${removed}${oldText === undefined ? ", new" : ""})`;
}

/** Lines between the first and the last that differ: enough for a glance. */
function countChanged(before: string, after: string): [number, number] {
  const [old, now] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let end = 0;
  while (
    end < old.length - start &&
    end < now.length - start &&
    old[old.length - 1 - end] === now[now.length - 1 - end]
  ) {
    end += 1;
  }
  return [old.length - start - end, now.length - start - end];
}

function linesOf(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

/** A refusal and a block were told when they happened. */
function failedLine(event: Of<"tool.failed">, columns: number): Line | undefined {
  const { reason, preview, durationMs, metadata } = event;
  if (reason === "denied" || reason === "blocked") return undefined;
  const how = metadata?.exitCode === undefined ? reason.replaceAll("_", " ") : `exit ${metadata.exitCode}`;
  const shown = sanitizedLines(preview, columns);
  return { kind: "note", text: [`  ✗ ${how}, ${seconds(durationMs)}`, ...shown].join("\n") };
}

function sanitizedLines(preview: string, columns: number): string[] {
  const lines = preview.trim().split("\n").slice(-MAX_PREVIEW_LINES);
  const short = lines.map((line) => cutTo(sanitizeLine(line), MAX_PREVIEW_LINE));
  return short.flatMap((line) => (line === "" ? [] : behindBar(line, columns)));
}

function hookText({ decision, message }: Of<"hook.fired">): string {
  const says = decision === "block" ? "blocks" : "warns";
  return message === undefined ? says : `${says}: ${sanitizeLine(message)}`;
}

function deniedText({ by, targetType, targetName, reason }: Of<"permission.denied">): string {
  const who = by === "nobody" ? "nobody to ask" : sanitizeLine(by).replaceAll("_", " ");
  const what = `${targetType === "agent" ? "agent " : ""}${cutTo(revealLine(targetName), 60)}`;
  return `✗ not allowed (${who}): ${what}${reason === undefined ? "" : `; ${sanitizeLine(reason)}`}`;
}
