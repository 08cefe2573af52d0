// An event of the runtime as a line for a person. Pure. What a sub-agent does stands below the call that started it, with
// its name; a tool that another program runs has its badge.
import { revealLine, sanitizeLine } from "../../base/sanitize.ts";
import type { RuntimeEvent } from "../../runtime/events.ts";
import type { FileChange } from "../../runtime/workspace/types.ts";
import { behindBar, cutTo } from "../bar.ts";
import { badgeOf, compactedText, eventWords } from "./event-words.ts";
import { seconds, spentText } from "./spent.ts";

const MAX_TITLE = 160;
const MAX_PREVIEW_LINES = 6;
const MAX_PREVIEW_LINE = 300;

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
    default:
      return noticeLine(event);
  }
}

function noticeLine(event: RuntimeEvent): Line | undefined {
  const said = eventWords(event);
  if (said === undefined) return undefined;
  const { level, text } = said;
  const mark = event.type === "permission.denied" ? "✗" : level === "info" ? "·" : "!";
  return { kind: level === "info" ? "note" : "warn", text: `${mark} ${text}` };
}

function startedText({ title, sandbox, executor }: Of<"tool.started">, columns: number): string {
  const width = Math.min(MAX_TITLE, columns - 20);
  const held = sandbox === undefined ? "" : `  [${sanitizeLine(sandbox)}]`;
  return `● ${badgeOf(executor)}${cutTo(revealLine(title), Math.max(20, width))}${held}`;
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
