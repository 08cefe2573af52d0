// Formats a runtime event as a line of text. Pure. Sub-agents' events are indented below the call that started them and
// carry their name; tools run by another program carry its badge.
import { countChangedLines } from "../../base/diff.ts";
import { revealLine, sanitizeLine } from "../../base/sanitize.ts";
import type { RuntimeEvent } from "../../runtime/events.ts";
import type { FileChange } from "../../runtime/workspace/types.ts";
import { drawBarLines, truncate } from "../bar.ts";
import { describeEvent, formatBadge, formatCompaction } from "./event-text.ts";
import { formatSeconds, formatUsage } from "./usage-text.ts";

const MAX_TITLE = 160;
const MAX_PREVIEW_LINES = 6;
const MAX_PREVIEW_LINE = 300;

type EventOf<T extends RuntimeEvent["type"]> = Extract<RuntimeEvent, { type: T }>;

export interface EventLine {
  kind: "note" | "warn" | "error";
  text: string;
}

/** Undefined if the event is not shown. */
export function formatEvent(event: RuntimeEvent, columns: number): EventLine | undefined {
  const { agentPath = [] } = event;
  const invoked = formatInvocation(event);
  if (invoked !== undefined) return invoked;
  if (agentPath.length === 0) return formatOwnEvent(event, columns);
  const name = `${indent(agentPath)}${truncate(revealLine(agentPath.at(-1) ?? ""), 40)} `;
  const line = formatOwnEvent(event, columns - name.length);
  if (line === undefined) return undefined;
  const [first = "", ...rest] = line.text.split("\n");
  const below = rest.map((row) => `${indent(agentPath)}${row}`);
  return { kind: line.kind, text: [`${name}${first}`, ...below].join("\n") };
}

/** Start and end of a sub-agent. */
function formatInvocation(event: RuntimeEvent): EventLine | undefined {
  if (!("targetAgent" in event)) return undefined;
  const { agentPath = [], targetAgent } = event;
  // Reported by the caller or by the sub-agent itself.
  const path = agentPath.at(-1) === targetAgent ? agentPath : [...agentPath, targetAgent];
  const name = truncate(revealLine(targetAgent), 40);
  const begin = indent(path);
  switch (event.type) {
    case "agent.invocation.started": {
      const where = `${sanitizeLine(event.provider)}, ${sanitizeLine(event.model)}`;
      return {
        kind: "note",
        text: `${begin}▶ ${name} started (${where}; about ${event.handoffTokens} tokens of context)`,
      };
    }
    case "agent.invocation.completed":
      return { kind: "note", text: `${begin}✓ ${name} done: ${formatUsage(event)}` };
    case "agent.invocation.failed":
      return {
        kind: "warn",
        text: `${begin}✗ ${name} failed: ${sanitizeLine(event.reason)} (${formatUsage(event)})`,
      };
    case "agent.invocation.cancelled":
      return {
        kind: "warn",
        text: `${begin}■ ${name} cancelled: ${sanitizeLine(event.reason)} (${formatUsage(event)})`,
      };
    case "agent.session.context_compacted":
      return { kind: "note", text: `${begin}${name} · ${formatCompaction(event)}` };
    default:
      return undefined;
  }
}

function indent(path: readonly string[]): string {
  return "  ".repeat(path.length);
}

function formatOwnEvent(event: RuntimeEvent, columns: number): EventLine | undefined {
  switch (event.type) {
    case "tool.started":
      return { kind: "note", text: formatStart(event, columns) };
    case "tool.completed":
      return { kind: "note", text: `  ✓ ${formatEnd(event)}` };
    case "tool.failed":
      return formatFailure(event, columns);
    default:
      return formatNotice(event);
  }
}

function formatNotice(event: RuntimeEvent): EventLine | undefined {
  const said = describeEvent(event);
  if (said === undefined) return undefined;
  const { level, text } = said;
  const mark = event.type === "permission.denied" ? "✗" : level === "info" ? "·" : "!";
  return { kind: level === "info" ? "note" : "warn", text: `${mark} ${text}` };
}

function formatStart({ title, sandbox, executor }: EventOf<"tool.started">, columns: number): string {
  const width = Math.min(MAX_TITLE, columns - 20);
  const held = sandbox === undefined ? "" : `  [${sanitizeLine(sandbox)}]`;
  return `● ${formatBadge(executor)}${truncate(revealLine(title), Math.max(20, width))}${held}`;
}

function formatEnd({ durationMs, metadata }: EventOf<"tool.completed">): string {
  const changes = (metadata?.changes ?? []).map(formatChange);
  const { exitCode, outputFile, dryRun } = metadata ?? {};
  return [
    ...changes,
    ...(dryRun ? ["dry run: no changes made"] : []),
    ...(exitCode === undefined ? [] : [`exit ${exitCode}`]),
    formatSeconds(durationMs),
    ...(outputFile === undefined ? [] : [`full output: ${revealLine(outputFile)}`]),
  ].join(", ");
}

function formatChange({ path, oldText, newText, isDeleted, movedTo }: FileChange): string {
  const { added, removed } = countChangedLines(oldText ?? "", newText);
  const note =
    oldText === undefined ? ", new" : isDeleted ? ", deleted" : movedTo ? `, now ${revealLine(movedTo)}` : "";
  return `${revealLine(path)} (+${added} −${removed}${note})`;
}

/** Denials and blocks are shown when they happen. */
function formatFailure(event: EventOf<"tool.failed">, columns: number): EventLine | undefined {
  const { reason, preview, durationMs, metadata } = event;
  if (reason === "denied" || reason === "blocked") return undefined;
  const how = metadata?.exitCode === undefined ? reason.replaceAll("_", " ") : `exit ${metadata.exitCode}`;
  const shown = formatPreview(preview, columns);
  return { kind: "note", text: [`  ✗ ${how}, ${formatSeconds(durationMs)}`, ...shown].join("\n") };
}

function formatPreview(preview: string, columns: number): string[] {
  const lines = preview.trim().split("\n").slice(-MAX_PREVIEW_LINES);
  const short = lines.map((line) => truncate(sanitizeLine(line), MAX_PREVIEW_LINE));
  return short.flatMap((line) => (line === "" ? [] : drawBarLines(line, columns)));
}
