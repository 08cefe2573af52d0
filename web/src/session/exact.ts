// The exact content of a request, with invisible characters revealed. Content and order come from
// client/view/request-card.ts, as in the terminal UI.
import { html, nothing } from "lit";
import { reveal, revealLine } from "../../../src/base/sanitize.ts";
import {
  type RequestPart,
  type RequestQuote,
  toRequestDetails,
} from "../../../src/client/view/request-card.ts";
import type { RequestRow } from "../../../src/client/view/types.ts";
import { copyButton } from "./copy.ts";
import { exactDiff } from "./diff-view.ts";

const MAX_BESIDE = 90;

export function partView(part: RequestPart): unknown {
  if (part.kind === "quote") return quoteView(part);
  return html`<p class="card-words">${part.text}${part.id === undefined ? nothing : html` <code>${revealLine(part.id)}</code>`}</p>`;
}

/** Collapsed: ids, JSON and everything else the agent sent. */
export function detailsView(row: RequestRow): unknown {
  return html`<details class="card-details">
    <summary>Details</summary>
    ${toRequestDetails(row).map(partView)}
  </details>`;
}

function quoteView({ text, title, form }: RequestQuote): unknown {
  const isShort = title !== undefined && text.length <= MAX_BESIDE && !text.includes("\n");
  if (isShort)
    return html`<p class="card-fact"><span class="card-label">${title}</span> <code class="card-value">${reveal(text)}</code></p>`;
  return html`<section class="card-section" data-form=${form}>
    ${title === undefined ? nothing : html`<h3>${title}</h3>`} ${copyButton(() => text, "Copy")}
    ${form === "diff" ? exactDiff(text) : html`<pre class="exact" tabindex="0">${form === "line" ? revealLine(text) : reveal(text)}</pre>`}
  </section>`;
}
