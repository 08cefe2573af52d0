// One file of the Changes tab: a head that opens it, and its lines or why there are none.
import { html, nothing, type TemplateResult } from "lit";
import { guard } from "lit/directives/guard.js";
import { sanitize, sanitizeLine } from "../../../src/base/sanitize.ts";
import {
  describeFile,
  explainNoLines,
  STATUS_WORDS,
  toFileKey,
} from "../../../src/client/view/change-list.ts";
import { type ChangeRow, countChangeLines } from "../../../src/client/view/change-rows.ts";
import type { OpenedFile } from "../../../src/client/view/change-source.ts";
import type { ChangedFile } from "../../../src/protocol/changes.ts";
import { type LinesContext, splitLines, unifiedLines } from "./lines-view.ts";

export interface FileContext {
  file: ChangedFile;
  opened: OpenedFile | undefined;
  rows: readonly ChangeRow[];
  isSplit: boolean;
  /** Turns are worth naming: the list is of several. */
  showsTurns: boolean;
  /** Of its comments. */
  comments: number;
  lines: LinesContext;
  /** What the drawn lines depend on besides `rows`. */
  dependencies: readonly unknown[];
  toggle(): void;
  showMore(): void;
}

/** Lines drawn at first, and with each "Show more". */
export const LINES_STEP = 400;

export function fileView(context: FileContext): TemplateResult {
  const { file, opened, toggle, comments } = context;
  const key = toFileKey(file);
  const words = describeFile(file);
  return html`<section class="changed-file" data-key=${key}>
    <button class="changed-head" type="button" aria-expanded=${opened !== undefined} @click=${toggle}>
      <span class="changed-status" data-status=${file.status}>${STATUS_WORDS[file.status]}</span>
      <span class="changed-path diff-path">${file.old_path === undefined ? nothing : html`<span class="changed-old">${sanitizeLine(file.old_path)} → </span>`}${sanitizeLine(file.path)}</span>
      ${words.map((word) => html`<span class="changed-note">${word}</span>`)}
      ${comments === 0 ? nothing : html`<span class="changed-note is-comment">${comments} ${comments === 1 ? "comment" : "comments"}</span>`}
      ${context.showsTurns && file.turns.length > 0 ? html`<span class="changed-turns">${turnsText(file.turns)}</span>` : nothing}
      ${countsView(file)}
    </button>
    ${opened === undefined ? nothing : html`<div class="changed-body">${bodyView(context, opened)}</div>`}
  </section>`;
}

export function countsView({ additions, deletions }: Pick<ChangedFile, "additions" | "deletions">): unknown {
  if (additions === undefined && deletions === undefined) return nothing;
  return html`<span class="changed-counts"><span class="diff-added">+${additions ?? 0}</span> <span class="diff-removed">−${deletions ?? 0}</span></span>`;
}

function turnsText(turns: readonly number[]): string {
  const shown = turns.slice(0, 4).join(", ");
  return `${turns.length === 1 ? "turn" : "turns"} ${shown}${turns.length > 4 ? ", …" : ""}`;
}

function bodyView(context: FileContext, { reply, isLoading, problem }: OpenedFile): unknown {
  const { file, rows, isSplit, lines, dependencies, showMore } = context;
  const why = explainNoLines(file, reply);
  if (why !== undefined) return html`<p class="changed-why">${why}</p>`;
  if (problem !== undefined) return html`<p class="changed-why error-text">${sanitize(problem)}</p>`;
  if (reply === undefined) return html`<p class="changed-why">${isLoading ? "Loading…" : ""}</p>`;
  const left = countChangeLines(reply) - rows.filter(({ kind }) => kind !== "hunk").length;
  return html`<div class="changed-lines ${isSplit ? "is-split" : ""}" tabindex="0" role="group" aria-label=${`Lines of ${sanitizeLine(file.path)}`}>
      ${guard([rows, isSplit, ...dependencies], () => (isSplit ? splitLines : unifiedLines)(rows, lines))}
    </div>
    ${left > 0 ? html`<button class="changed-more quiet" type="button" @click=${showMore}>Show ${Math.min(left, LINES_STEP)} more of ${left} lines</button>` : nothing}
    ${left === 0 && reply.truncated ? html`<p class="changed-why">The rest of this change is too long to show.</p>` : nothing}`;
}
