// A tool call in the feed: one line with status and time; input, changes and output below.
import { html, nothing, type TemplateResult } from "lit";
import { sanitize, sanitizeLine } from "../../../src/base/sanitize.ts";
import { computeTookMs, formatDuration, formatToolStatus } from "../../../src/client/view/format.ts";
import type { ToolEntry } from "../../../src/client/view/types.ts";
import { copyButton } from "./copy.ts";
import { changesView } from "./diff-view.ts";
import type { EntryContext } from "./entry-view.ts";
import { isOpen } from "./items.ts";

const MARKS: Readonly<Record<ToolEntry["status"], string>> = {
  running: "●",
  waiting: "?",
  done: "✓",
  failed: "✗",
  not_run: "⊘",
  unknown: "–",
};

export function toolView(entry: ToolEntry, context: EntryContext): TemplateResult {
  const isUnfolded = isOpen(entry, context.folds);
  const label = formatToolStatus(entry);
  const id = `tool-${entry.id}`;
  return html`<button class="tool-head" type="button" aria-expanded=${isUnfolded} aria-controls=${id} @click=${() => context.toggle(entry)}>
      <span class="tool-status" data-status=${entry.status} role="img" aria-label=${label} title=${label}>${MARKS[entry.status]}</span>
      <span class="tool-name">${sanitizeLine(entry.name)}</span>
      <span class="tool-title">${sanitizeLine(entry.title)}</span>
      ${entry.agent === undefined ? nothing : html`<span class="tool-agent">${sanitizeLine(entry.agent)}</span>`}
      <span class="tool-time">${toolTime(entry, context.nowMs)}</span>
    </button>
    <div class="tool-body" id=${id} ?hidden=${!isUnfolded}>${isUnfolded ? toolBody(entry) : nothing}</div>`;
}

/** Running time, without waiting for the user. */
export function toolTime(entry: ToolEntry, nowMs: number): string {
  const { at_ms, status, waited_ms = 0 } = entry;
  if (status === "not_run") return formatToolStatus(entry);
  const took = computeTookMs(entry);
  if (took !== undefined) return formatDuration(took);
  return status === "running" && at_ms !== undefined
    ? formatDuration(Math.max(0, nowMs - at_ms - waited_ms))
    : "";
}

function toolBody(entry: ToolEntry): unknown {
  const input = entry.input === undefined ? entry.partialInput : inputText(entry.input);
  return html`
    ${entry.changes === undefined ? nothing : changesView(entry.changes)}
    ${
      input === undefined || entry.changes !== undefined
        ? nothing
        : html`<div class="tool-part"><h4>Input</h4>${copyButton(() => input, "Copy input")}<pre class="input" tabindex="0">${sanitize(input)}</pre></div>`
    }
    ${
      entry.output === undefined || entry.output === ""
        ? nothing
        : html`<div class="tool-part"><h4>Output</h4>${copyButton(() => entry.output ?? "", "Copy output")}<pre class="output" tabindex="0">${sanitize(entry.output)}</pre></div>`
    }
    ${entry.exit_code === undefined ? nothing : html`<p class="tool-exit">exit code ${entry.exit_code}</p>`}
  `;
}

/** A shell command as text, anything else as JSON. */
function inputText(input: unknown): string {
  if (typeof input === "string") return input;
  const command = (input as { command?: unknown } | null)?.command;
  if (typeof command === "string" && Object.keys(input as object).length === 1) return command;
  return JSON.stringify(input, null, 2) ?? "";
}
