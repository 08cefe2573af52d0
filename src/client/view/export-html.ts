// A session as one HTML page: no scripts, nothing is loaded, everything that was said or done is text. Pure.
import { sanitize } from "../../base/sanitize.ts";
import type { SessionView } from "../../protocol/views.ts";
import {
  describeExport,
  type ExportedEntry,
  formatToolHead,
  formatWhen,
  listChangeTexts,
} from "./export-texts.ts";
import { type Block, type Inline, parseMarkdownBlocks } from "./markdown.ts";

const STYLE = `:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem;overflow-wrap:break-word}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem}dt{font-weight:600}dd{margin:0}
pre{overflow:auto;padding:.6rem .8rem;border:1px solid #8886;border-radius:6px}code,pre{font:.85em/1.45 ui-monospace,monospace}
section.user{border-left:4px solid #4a7;padding-left:1rem;margin:2rem 0 1rem}h2{font-size:1rem;margin:0 0 .4rem}
details{margin:.6rem 0}summary{cursor:pointer;font:.85em ui-monospace,monospace}.note{opacity:.75;font-style:italic}
.failed summary{color:#c33}.add{color:#2a7}.del{color:#c33}table{border-collapse:collapse}td,th{border:1px solid #8886;padding:.2rem .5rem}`;

export function toHtmlHead(session: SessionView): string {
  const { title, facts } = describeExport(session);
  const rows = facts
    .map(([name, value]) => `<dt>${escapeHtml(name)}</dt><dd>${escapeHtml(value)}</dd>`)
    .join("");
  const policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width,initial-scale=1"><meta name="referrer" content="no-referrer">
<title>${escapeHtml(title)}</title><style>${STYLE}</style></head><body>
<h1>${escapeHtml(title)}</h1><dl>${rows}</dl>
`;
}

export const HTML_END = "</body></html>\n";

export function toHtml(entry: ExportedEntry): string {
  switch (entry.kind) {
    case "user": {
      const who = entry.from === undefined ? "User" : `Session ${entry.from}`;
      const rest =
        entry.attachments === undefined ? "" : note(`${entry.attachments} attachments are not included.`);
      return `<section class="user"><h2>${escapeHtml(who + formatWhen(entry))}</h2>${toBlocks(entry.text)}${rest}</section>\n`;
    }
    case "text":
      return `<section>${toBlocks(entry.text)}</section>\n`;
    case "thinking":
      return `<details><summary>Thinking</summary>${toBlocks(entry.text)}</details>\n`;
    case "tool": {
      const changes = listChangeTexts(entry).map(
        ({ path, diff }) => `<p><code>${escapeHtml(path)}</code></p>${toDiff(diff)}`,
      );
      const output =
        entry.output === undefined || entry.output === "" ? "" : `<pre>${escapeHtml(entry.output)}</pre>`;
      const failed = entry.status === "failed" ? ' class="failed"' : "";
      return `<details${failed}><summary>${escapeHtml(formatToolHead(entry))}</summary>${changes.join("")}${output}</details>\n`;
    }
    case "request":
      return note(`Asked: ${entry.request.payload.title} (${entry.request.status})`);
    case "result":
      return entry.subtype === "success"
        ? ""
        : note(`Turn: ${[entry.subtype, entry.error].filter(Boolean).join(": ")}`);
    case "notice":
      return entry.level === "info" ? "" : note(`${entry.level}: ${entry.text}`);
    case "gap":
      return note(entry.text);
  }
}

function note(text: string): string {
  return `<p class="note">${escapeHtml(text)}</p>\n`;
}

function toDiff(diff: string): string {
  const lines = diff.split("\n").map((line) => {
    const kind = line.startsWith("+") ? "add" : line.startsWith("-") ? "del" : undefined;
    return kind === undefined ? escapeHtml(line) : `<span class="${kind}">${escapeHtml(line)}</span>`;
  });
  return `<pre>${lines.join("\n")}</pre>`;
}

function toBlocks(text: string): string {
  return parseMarkdownBlocks(text).map(toBlock).join("\n");
}

function toBlock(block: Block): string {
  switch (block.kind) {
    case "heading": {
      const tag = `h${Math.min(block.level + 1, 6)}`;
      return `<${tag}>${toInlines(block.content)}</${tag}>`;
    }
    case "paragraph":
      return `<p>${toInlines(block.content)}</p>`;
    case "code":
      return `<pre><code>${escapeHtml(block.text)}</code></pre>`;
    case "quote":
      return `<blockquote>${block.blocks.map(toBlock).join("")}</blockquote>`;
    case "rule":
      return "<hr>";
    case "list": {
      const items = block.items.map(({ task, blocks }) => {
        const mark = task === undefined ? "" : task ? "☑ " : "☐ ";
        return `<li>${mark}${blocks.map(toBlock).join("")}</li>`;
      });
      return block.start === undefined
        ? `<ul>${items.join("")}</ul>`
        : `<ol start="${Math.trunc(block.start)}">${items.join("")}</ol>`;
    }
    case "table": {
      const row = (cells: readonly (readonly Inline[])[], tag: "td" | "th") =>
        `<tr>${cells.map((cell) => `<${tag}>${toInlines(cell)}</${tag}>`).join("")}</tr>`;
      return `<table>${row(block.header, "th")}${block.rows.map((cells) => row(cells, "td")).join("")}</table>`;
    }
  }
}

const TAGS = { strong: "strong", em: "em", strike: "s" } as const;

function toInlines(inlines: readonly Inline[]): string {
  return inlines.map(toInline).join("");
}

function toInline(inline: Inline): string {
  switch (inline.kind) {
    case "text":
      return escapeHtml(inline.text);
    case "code":
      return `<code>${escapeHtml(inline.text)}</code>`;
    case "strong":
    case "em":
    case "strike":
      return `<${TAGS[inline.kind]}>${toInlines(inline.content)}</${TAGS[inline.kind]}>`;
    case "link": {
      const text = toInlines(inline.content);
      const isWeb = /^(?:https?|mailto):/i.test(inline.href);
      return isWeb
        ? `<a href="${escapeHtml(inline.href)}" rel="noreferrer noopener">${text}</a>`
        : `${text} (${escapeHtml(inline.href)})`;
    }
    case "image":
      // Not loaded: that would tell its server who reads the page.
      return escapeHtml(`[image: ${inline.text || inline.href}]`);
    case "break":
      return "<br>";
  }
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
function escapeHtml(text: string): string {
  return sanitize(text).replace(/[&<>"']/g, (found) => ENTITIES[found] ?? found);
}
