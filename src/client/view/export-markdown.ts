// A session as Markdown for people: what was said and done. Nothing that an agent wrote can become HTML, a script or a
// terminal's control sequence. Pure.
import { sanitize, sanitizeLine } from "../../base/sanitize.ts";
import type { SessionView } from "../../protocol/views.ts";
import {
  describeExport,
  type ExportedEntry,
  formatToolHead,
  formatWhen,
  listChangeTexts,
} from "./export-texts.ts";

const LONGEST_FENCE = /`{3,}/g;

export function toMarkdownHead(session: SessionView): string {
  const { title, facts } = describeExport(session);
  const rows = facts.map(([name, value]) => `- **${name}:** ${toText(value)}`);
  return `# ${toText(title)}\n\n${rows.join("\n")}\n`;
}

export function toMarkdown(entry: ExportedEntry): string {
  switch (entry.kind) {
    case "user":
      return `\n## ${entry.from === undefined ? "User" : `Session ${toText(entry.from)}`}${formatWhen(entry)}\n\n${toProse(entry.text)}\n${
        entry.attachments === undefined ? "" : `\n*${entry.attachments} attachments are not included.*\n`
      }`;
    case "text":
      return `\n${toProse(entry.text)}\n`;
    case "thinking":
      return `\n> *Thinking*\n>\n${toProse(entry.text).replace(/^/gm, "> ")}\n`;
    case "tool": {
      const changes = listChangeTexts(entry).map(
        ({ path, diff }) => `\n\`${toText(path)}\`\n${toFence(diff, "diff")}`,
      );
      const output = entry.output === undefined || entry.output === "" ? "" : toFence(entry.output, "");
      return `\n**${toText(formatToolHead(entry))}**\n${changes.join("")}${output}`;
    }
    case "request":
      return `\n*Asked: ${toText(entry.request.payload.title)} (${entry.request.status})*\n`;
    case "result":
      return entry.subtype === "success"
        ? ""
        : `\n*Turn: ${entry.subtype}${entry.error === undefined ? "" : `: ${toText(entry.error)}`}*\n`;
    case "notice":
      return entry.level === "info" ? "" : `\n*${entry.level}: ${toText(entry.text)}*\n`;
    case "gap":
      return `\n*${toText(entry.text)}*\n`;
  }
}

/** Keeps the agent's formatting; HTML and links that are no web address become text. Code stays as it is. */
export function toProse(text: string): string {
  const parts = sanitize(text).split(
    /(^[ \t]{0,3}(`{3,}|~{3,})[^\n]*\n[\s\S]*?(?:^[ \t]{0,3}\2[`~]*[ \t]*$|$(?![\s\S])))/m,
  );
  const [first = "", ...rest] = parts;
  let prose = escapeProse(first);
  // Every fence is followed by its marks (the inner group) and the text after it.
  for (let at = 0; at < rest.length; at += 3) prose += `${rest[at] ?? ""}${escapeProse(rest[at + 2] ?? "")}`;
  return prose.trim();
}

function escapeProse(text: string): string {
  return text
    .split(/(`+[^`\n]+`+)/)
    .map((part, at) => (at % 2 === 1 ? part : escapeHtml(part)))
    .join("");
}

function escapeHtml(text: string): string {
  return text
    .replace(/<(?=[A-Za-z/!?])/g, "&lt;")
    .replace(
      /(\]\(\s*<?|^\s{0,3}\[[^\]\n]+\]:\s*<?)(?!https?:|mailto:|#|\/|\.)(?=[A-Za-z][A-Za-z0-9+.-]*:)/gm,
      "$1#",
    );
}

/** One line of plain text. */
function toText(text: string): string {
  return sanitizeLine(text).replace(/[\\`*_<[\]]/g, "\\$&");
}

/** Longer than any fence inside. */
function toFence(text: string, language: string): string {
  const marks = text.match(LONGEST_FENCE) ?? [];
  const fence = "`".repeat(Math.max(3, ...marks.map((mark) => mark.length + 1)));
  return `\n${fence}${language}\n${sanitize(text).replace(/\n$/, "")}\n${fence}\n`;
}
