// File changes as diffs.
import { html, nothing, type TemplateResult } from "lit";
import { reveal, sanitize, sanitizeLine } from "../../../src/base/sanitize.ts";
import type { WordPart } from "../../../src/base/word-diff.ts";
import { type DiffLine, parseDiff } from "../../../src/client/view/diff.ts";
import { getChangeLabel } from "../../../src/client/view/format.ts";
import { splitDiffWords } from "../../../src/client/view/request-diff.ts";
import type { FileChange } from "../../../src/client/view/types.ts";

const OPS: Readonly<Record<DiffLine["kind"], { op: string; sign: string }>> = {
  add: { op: "add", sign: "+" },
  remove: { op: "del", sign: "-" },
  same: { op: "ctx", sign: " " },
  hunk: { op: "hunk", sign: "" },
  meta: { op: "meta", sign: "" },
};

export function changesView(changes: readonly FileChange[]): TemplateResult {
  return html`<div class="diff">${changes.map(changeView)}</div>`;
}

/** For approvals: every line exactly as written, however it is parsed, with the words that differ. */
export function exactDiff(text: string): TemplateResult {
  const words = splitDiffWords(text);
  const lines = parseDiff(text).lines.map(({ kind }, index) =>
    lineView(kind, (words[index] ?? []).map(wordView)),
  );
  return html`<div class="diff"><pre class="diff-lines exact" tabindex="0">${lines}</pre></div>`;
}

function changeView(change: FileChange): TemplateResult {
  const diff = change.diff === undefined ? undefined : parseDiff(change.diff);
  return html`<section class="diff-change">
    <div class="diff-file">
      <span class="diff-path">${sanitizeLine(change.path)}${change.move_path === undefined ? nothing : html` → ${sanitizeLine(change.move_path)}`}</span>
      <span class="diff-kind">${getChangeLabel(change)}</span>
      ${diff === undefined ? nothing : html`<span class="diff-added">+${diff.added}</span> <span class="diff-removed">−${diff.removed}</span>`}
    </div>
    ${
      diff === undefined
        ? nothing
        : html`<pre class="diff-lines" tabindex="0">${diff.lines.map(({ kind, text }) => lineView(kind, OPS[kind].sign + sanitize(text)))}</pre>`
    }
  </section>`;
}

function wordView({ text, isChanged }: WordPart): unknown {
  return isChanged ? html`<b class="diff-word">${reveal(text)}</b>` : reveal(text);
}

function lineView(kind: DiffLine["kind"], text: unknown): TemplateResult {
  return html`<span class="diff-line" data-op=${OPS[kind].op}>${text}${"\n"}</span>`;
}
