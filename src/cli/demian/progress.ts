// What the runtime tells, as lines for a person: one when a tool starts, one when it has ended, and what went wrong.
import { revealLine, sanitizeLine } from "../../base/sanitize.ts";
import type { RuntimeEvent } from "../../runtime/events.ts";
import type { FileChange } from "../../runtime/workspace/types.ts";
import { behindBar, cutTo } from "../bar.ts";
import type { Screen } from "./screen.ts";

const MAX_TITLE = 160;
const MAX_PREVIEW_LINES = 6;
const MAX_PREVIEW_LINE = 300;

type Of<T extends RuntimeEvent["type"]> = Extract<RuntimeEvent, { type: T }>;

export class Progress {
  readonly #screen: Screen;
  /** Of the answer that is being made. */
  #streamed = "";
  #isThinking = false;

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  see(event: RuntimeEvent): void {
    switch (event.type) {
      case "model.request":
        this.#streamed = "";
        this.#isThinking = false;
        return;
      case "model.reasoning.delta":
        if (!this.#isThinking && this.#screen.isTerminal) this.#screen.note("· thinking…");
        this.#isThinking = true;
        return;
      case "model.text.delta":
        this.#streamed += event.text;
        this.#screen.stream(event.text);
        return;
      case "model.text":
        // What is said before a tool is talk; the final answer is printed by whoever asked for it.
        if (!event.final && this.#streamed === "") this.#screen.stream(event.text);
        if (!event.final) this.#screen.freshLine();
        return;
      default: {
        const line = lineOf(event, this.#screen.columns);
        if (line !== undefined) this.#screen[line.kind](line.text);
      }
    }
  }

  /** It stands on the screen already. */
  hasShown(answer: string): boolean {
    return this.#screen.hasAnswer && answer !== "" && this.#streamed === answer;
  }
}

export interface Line {
  kind: "note" | "warn" | "error";
  text: string;
}

/** Undefined: nobody needs to see it. */
export function lineOf(event: RuntimeEvent, columns: number): Line | undefined {
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
      return {
        kind: "warn",
        text: `✗ not allowed (${event.by === "nobody" ? "nobody to ask" : sanitizeLine(event.by)}): ${cutTo(revealLine(event.targetName), 60)}${because(event.reason)}`,
      };
    case "context.compacted":
      // Whoever asked for it is told by the one who did it.
      return event.manual ? undefined : { kind: "note", text: `· ${compactedText(event)}` };
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

function startedText({ title, sandbox }: Of<"tool.started">, columns: number): string {
  const width = Math.min(MAX_TITLE, columns - 20);
  const held = sandbox === undefined ? "" : `  [${sanitizeLine(sandbox)}]`;
  return `● ${cutTo(revealLine(title), Math.max(20, width))}${held}`;
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

function because(reason: string | undefined): string {
  return reason === undefined ? "" : `; ${sanitizeLine(reason)}`;
}

function seconds(ms: number): string {
  return ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 1000)} s`;
}
