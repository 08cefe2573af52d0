// All that a person sees before deciding, whole and byte for byte: nothing looks like something else (reveal). What it
// is and in which order is client/view/request-parts.ts's, the same as in the terminal.
import { html, nothing } from "lit";
import { reveal, revealLine } from "../../../src/base/sanitize.ts";
import {
  choiceParts,
  lineCount,
  type RequestPart,
  type RequestQuote,
  requestParts,
} from "../../../src/client/view/request-parts.ts";
import type { RequestRow } from "../../../src/client/view/types.ts";
import type { Choice } from "../../../src/protocol/requests.ts";
import { copyButton } from "./copy.ts";
import { exactDiff } from "./diff-view.ts";

const MAX_BESIDE = 90;

/** Without the title, which the head of the card has, the questions, which are a form, and the ids. */
export function exactParts(row: RequestRow): unknown {
  return partsOf(row)
    .filter((part) => !isId(part))
    .map(partView);
}

/** They are the least of it: they stand last. */
export function idParts(row: RequestRow): unknown {
  return partsOf(row).filter(isId).map(partView);
}

function partsOf(row: RequestRow): RequestPart[] {
  const { questions, ...payload } = row.payload;
  const asked = questions === undefined ? payload : { ...payload, questions: [] };
  return requestParts({ ...row, payload: asked }).slice(1);
}

function isId(part: RequestPart): boolean {
  return part.kind === "words" && part.id !== undefined;
}

/** What each choice means, and what will be remembered or written because of it. */
export function choiceNotes(row: RequestRow): ReadonlyMap<Choice, unknown[]> {
  const notes = new Map<Choice, unknown[]>();
  let current: unknown[] = [];
  for (const part of choiceParts(row)) {
    if (part.kind === "choice") {
      current = part.isAnswer ? [] : [html`<span class="choice-meaning">${part.meaning}</span>`];
      notes.set(part.choice, current);
    } else current.push(partView(part));
  }
  return notes;
}

function partView(part: RequestPart): unknown {
  if (part.kind === "choice") return nothing;
  if (part.kind === "quote") return quoteView(part);
  return html`<p class="card-words">${part.text}${part.id === undefined ? nothing : html` <code>${revealLine(part.id)}</code>`}</p>`;
}

function quoteView({ text, title = "", name, form }: RequestQuote): unknown {
  const label = html`${title}${name === undefined ? nothing : html` <code>${revealLine(name)}</code>`}`;
  const isShort = form !== "command" && form !== "diff" && text.length <= MAX_BESIDE && !text.includes("\n");
  if (isShort)
    return html`<p class="card-fact"><span class="card-label">${label}</span> <code class="card-value">${reveal(text)}</code></p>`;
  return html`<section class="card-section" data-form=${form}>
    <h3>${label}${lineCount(text)} ${copyButton(() => text, "Copy it")}</h3>
    ${form === "diff" ? exactDiff(text) : html`<pre class="exact" tabindex="0">${form === "line" ? revealLine(text) : reveal(text)}</pre>`}
  </section>`;
}
