// Renders the blocks of client/view/markdown.ts. Text is never parsed as HTML.
import { html, nothing, type TemplateResult } from "lit";
import { guard } from "lit/directives/guard.js";
import { sanitize, sanitizeLine } from "../../../src/base/sanitize.ts";
import type { Block, Inline, ListBlock, TableBlock } from "../../../src/client/view/markdown.ts";
import { codeBlock } from "./code-view.ts";
import { safeLink, saysAddress } from "./links.ts";

/** Unchanged blocks are not redrawn. */
export function markdown(blocks: readonly Block[]): TemplateResult {
  return html`<div class="md">${blocks.map((block) => guard([block], () => blockView(block)))}</div>`;
}

function blockView(block: Block): TemplateResult {
  switch (block.kind) {
    case "heading":
      return heading(block.level, block.content);
    case "paragraph":
      return html`<p>${inlines(block.content)}</p>`;
    case "list":
      return list(block);
    case "code":
      return codeBlock(block.text, block.lang);
    case "quote":
      return html`<blockquote>${block.blocks.map(blockView)}</blockquote>`;
    case "table":
      return table(block);
    case "rule":
      return html`<hr />`;
  }
}

/** Two levels lower than written, below the page's own headings. */
function heading(level: number, content: readonly Inline[]): TemplateResult {
  const text = inlines(content);
  if (level === 1) return html`<h3>${text}</h3>`;
  if (level === 2) return html`<h4>${text}</h4>`;
  return level === 3 ? html`<h5>${text}</h5>` : html`<h6>${text}</h6>`;
}

function list({ start, items }: ListBlock): TemplateResult {
  const rows = items.map(({ task, blocks }) => {
    // A single paragraph looks better without margins.
    const [only, ...more] = blocks;
    const content =
      only?.kind === "paragraph" ? [inlines(only.content), ...more.map(blockView)] : blocks.map(blockView);
    if (task === undefined) return html`<li>${content}</li>`;
    return html`<li class="task"><input type="checkbox" disabled ?checked=${task} aria-label=${task ? "done" : "to do"} />${content}</li>`;
  });
  return start === undefined ? html`<ul>${rows}</ul>` : html`<ol start=${start}>${rows}</ol>`;
}

function table({ align, header, rows }: TableBlock): TemplateResult {
  const side = (index: number): string => align[index] ?? "left";
  return html`<div class="table-wrap"><table>
    <thead><tr>${header.map((cell, index) => html`<th data-align=${side(index)}>${inlines(cell)}</th>`)}</tr></thead>
    <tbody>${rows.map((row) => html`<tr>${row.map((cell, index) => html`<td data-align=${side(index)}>${inlines(cell)}</td>`)}</tr>`)}</tbody>
  </table></div>`;
}

function inlines(content: readonly Inline[]): unknown[] {
  return content.map(inlineView);
}

function inlineView(inline: Inline): unknown {
  switch (inline.kind) {
    case "text":
      return sanitize(inline.text);
    case "code":
      return html`<code>${sanitize(inline.text)}</code>`;
    case "strong":
      return html`<strong>${inlines(inline.content)}</strong>`;
    case "em":
      return html`<em>${inlines(inline.content)}</em>`;
    case "strike":
      return html`<s>${inlines(inline.content)}</s>`;
    case "break":
      return html`<br />`;
    case "link":
      return link(inlines(inline.content), plain(inline.content), inline.href);
    case "image":
      // Never fetched, for privacy.
      return html`<span class="image">[image: ${link([sanitizeLine(inline.text)], inline.text, inline.href)}]</span>`;
  }
}

function link(content: readonly unknown[], text: string, href: string): unknown {
  const address = safeLink(href);
  const shown = sanitizeLine(address ?? href);
  const beside = saysAddress(text, shown) ? nothing : html` <span class="link-address">(${shown})</span>`;
  if (address === undefined) return html`${content}${beside}`;
  return html`<a class="link" href=${address} target="_blank" rel="noopener noreferrer">${content}</a>${beside}`;
}

function plain(content: readonly Inline[]): string {
  return content
    .map((inline) => ("content" in inline ? plain(inline.content) : "text" in inline ? inline.text : " "))
    .join("");
}
