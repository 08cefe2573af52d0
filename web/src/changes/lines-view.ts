// The lines of a changed file, in one column or side by side. Clicks on line numbers are handled by the element
// (changes.ts), which finds the line by `data-at`.
import { html, nothing, type TemplateResult } from "lit";
import { sanitize, sanitizeLine } from "../../../src/base/sanitize.ts";
import { type ChangeLine, type ChangeRow, toChangePairs } from "../../../src/client/view/change-rows.ts";
import { isSelected, type Selection } from "./selection.ts";

export interface LinesContext {
  selection: Selection | undefined;
  /** Below a line: its comments, the form. */
  below(line: ChangeLine): unknown;
}

/** As in style/changes.css. */
const OPS = { context: "ctx", add: "add", delete: "del" } as const;
const SIGNS = { context: " ", add: "+", delete: "−" } as const;
const ENDS = { cr: "␍", none: "no newline at the end" } as const;
/** Only valid scopes become classes. */
const SCOPE = /^[a-z][a-z_-]*$/;

export function unifiedLines(rows: readonly ChangeRow[], context: LinesContext): unknown[] {
  return rows.map((row) =>
    row.kind === "hunk"
      ? headView(row.text)
      : html`<div class=${lineClass(row, context)} data-op=${OPS[row.kind]} data-at=${row.at}>
          ${numberButton(row, [row.old, row.new])}<span class="line-text">${textView(row)}</span>
        </div>
        ${context.below(row)}`,
  );
}

export function splitLines(rows: readonly ChangeRow[], context: LinesContext): unknown[] {
  return toChangePairs(rows).map((pair) => {
    if (pair.kind === "hunk") return headView(pair.text);
    const { left, right } = pair;
    const isSame = left === right;
    return html`<div class="change-pair">${sideView(left, left?.old, context)}${sideView(right, right?.new, context)}</div>
      ${left === undefined || isSame ? nothing : context.below(left)} ${right === undefined ? nothing : context.below(right)}`;
  });
}

function sideView(
  line: ChangeLine | undefined,
  number: number | undefined,
  context: LinesContext,
): TemplateResult {
  if (line === undefined) return html`<div class="change-line is-blank"></div>`;
  return html`<div class=${lineClass(line, context)} data-op=${OPS[line.kind]} data-at=${line.at}>
    ${numberButton(line, [number])}<span class="line-text">${textView(line)}</span>
  </div>`;
}

function headView(text: string): TemplateResult {
  return html`<div class="change-hunk">${sanitizeLine(text)}</div>`;
}

function lineClass({ at }: ChangeLine, { selection }: LinesContext): string {
  const classes = ["change-line", isSelected(selection, at) ? "is-picked" : ""];
  return classes.join(" ").trim();
}

/** Not a stop of the tab key: with hundreds of lines the arrows are used instead (keys.ts). */
function numberButton({ old, new: now }: ChangeLine, shown: readonly (number | undefined)[]): TemplateResult {
  return html`<button class="line-no" type="button" tabindex="-1" aria-label=${`Comment on line ${now ?? old}`}>${shown.map(
    (number) => html`<span>${number ?? ""}</span>`,
  )}</button>`;
}

function textView({ kind, spans, end }: ChangeLine): unknown {
  return [
    html`<span class="line-sign">${SIGNS[kind]}</span>`,
    spans.map(({ text, scope, isChanged }) => {
      const safe = sanitize(text);
      const classes = [isChanged ? "line-word" : "", SCOPE.test(scope) ? `hl-${scope}` : ""];
      const names = classes.join(" ").trim();
      return names === "" ? safe : html`<span class=${names}>${safe}</span>`;
    }),
    end === undefined ? nothing : html`<span class="line-end">${ENDS[end]}</span>`,
  ];
}
