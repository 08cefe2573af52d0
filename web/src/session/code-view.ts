// Highlighted code: spans of client/view/highlight.ts become elements with a class.
import { html, type TemplateResult } from "lit";
import { sanitize } from "../../../src/base/sanitize.ts";
import { highlight } from "../../../src/client/view/highlight.ts";
import { copyButton } from "./copy.ts";

/** Only valid scopes become classes. */
const SCOPE = /^[a-z][a-z_-]*$/;

export function codeBlock(code: string, lang: string): TemplateResult {
  return html`<figure class="code-block">
    <figcaption class="code-head"><span class="code-lang">${sanitize(lang)}</span>${copyButton(() => code, "Copy code")}</figcaption>
    <pre class="code" data-lang=${lang} tabindex="0"><code>${codeSpans(code, lang)}</code></pre>
  </figure>`;
}

function codeSpans(code: string, lang: string): unknown[] {
  return highlight(code, lang).map((line, index) => [
    index === 0 ? "" : "\n",
    line.map(({ text, scope }) =>
      SCOPE.test(scope) ? html`<span class=${`hl-${scope}`}>${sanitize(text)}</span>` : sanitize(text),
    ),
  ]);
}
