// Markdown as data, parsed by `marked` and drawn by the screens. Not sanitized for a terminal or a page; raw HTML is
// plain text. Growing text is reparsed only from its last part.

import { Lexer, type Token, type Tokens } from "marked";
import { trimLastNewlines } from "./lines.ts";
import { type MarkdownPart, splitParts } from "./markdown-parts.ts";

export type Inline =
  | { kind: "text"; text: string }
  | { kind: "code"; text: string }
  | { kind: "strong" | "em" | "strike"; content: readonly Inline[] }
  /** Screens show both the text and the target. */
  | { kind: "link"; content: readonly Inline[]; href: string }
  | { kind: "image"; text: string; href: string }
  | { kind: "break" };

export interface ListItem {
  /** In a task list: whether it is checked. */
  task?: boolean;
  blocks: readonly Block[];
}

export interface ListBlock {
  kind: "list";
  /** First number; absent for bullets. */
  start?: number;
  items: readonly ListItem[];
}

export interface CodeBlock {
  kind: "code";
  /** The info string; may be empty. */
  lang: string;
  text: string;
}

export interface TableBlock {
  kind: "table";
  align: readonly ("left" | "center" | "right" | undefined)[];
  header: readonly (readonly Inline[])[];
  rows: readonly (readonly (readonly Inline[])[])[];
}

export type Block =
  | { kind: "heading"; level: number; content: readonly Inline[] }
  | { kind: "paragraph"; content: readonly Inline[] }
  | ListBlock
  | CodeBlock
  | { kind: "quote"; blocks: readonly Block[] }
  | TableBlock
  | { kind: "rule" };

/** Deeper nesting is a mistake or an attack, and `marked` recurses for each level. */
const MAX_NESTING = 24;
const NESTED = new RegExp(`^[ \\t]*(?:(?:>|[-*+]|\\d{1,9}[.)])[ \\t]*){${MAX_NESTING}}`, "m");

export function parseMarkdownBlocks(text: string): Block[] {
  return splitParts(text, 0).flatMap(readBlocks);
}

/** Reads growing text: blocks that can no longer change keep their identity. */
export class MarkdownReader {
  #settled: Block[] = [];
  /** The text of the settled blocks. */
  #done = "";

  /** The first `settled` blocks are final. */
  read(text: string): { blocks: readonly Block[]; settled: number } {
    if (!text.startsWith(this.#done)) {
      this.#settled = [];
      this.#done = "";
    }
    const parts = splitParts(text, this.#done.length);
    const last = parts.at(-1);
    for (const part of parts) {
      if (part === last) break;
      this.#settled.push(...readBlocks(part));
      this.#done = text.slice(0, part.end);
    }
    const open = last === undefined ? [] : readBlocks(last);
    return { blocks: [...this.#settled, ...open], settled: this.#settled.length };
  }
}

function readBlocks(part: MarkdownPart): Block[] {
  if (part.fence !== undefined) return [{ kind: "code", ...part.fence }];
  if (NESTED.test(part.text) || isMostlyMarks(part.text)) return [toPlainBlock(part.text)];
  try {
    return toBlocks(new Lexer({ gfm: true }).lex(part.text));
  } catch {
    // The lexer fails only on recursion depth; show the text unparsed.
    return [toPlainBlock(part.text)];
  }
}

/** No readable text has as many, and `marked` scans the rest of the text for each one's end. */
const MAX_MARKS = 800;

function isMostlyMarks(text: string): boolean {
  const count = text.match(/[[\]_*~`<!\\@]/g)?.length ?? 0;
  return count > MAX_MARKS && count > text.length / 4;
}

function toPlainBlock(text: string): Block {
  return { kind: "paragraph", content: [{ kind: "text", text: trimLastNewlines(text) }] };
}

function toBlocks(tokens: readonly Token[]): Block[] {
  return tokens.flatMap(toBlock);
}

function toBlock(token: Token): Block[] {
  switch (token.type) {
    case "space":
    case "checkbox":
      return [];
    case "heading":
      return [{ kind: "heading", level: (token as Tokens.Heading).depth, content: toInlines(token) }];
    case "paragraph":
    case "text":
      return [{ kind: "paragraph", content: toInlines(token) }];
    case "code": {
      const { lang = "", text } = token as Tokens.Code;
      return [{ kind: "code", lang, text }];
    }
    case "blockquote":
      return [{ kind: "quote", blocks: toBlocks((token as Tokens.Blockquote).tokens) }];
    case "list":
      return [toList(token as Tokens.List)];
    case "table":
      return [toTable(token as Tokens.Table)];
    case "hr":
      return [{ kind: "rule" }];
    default:
      // HTML or a link definition: shown as text.
      return token.raw.trim() === "" ? [] : [toPlainBlock(token.raw)];
  }
}

function toList({ ordered, start, items }: Tokens.List): ListBlock {
  return {
    kind: "list",
    ...(ordered && { start: start === "" ? 1 : start }),
    items: items.map(({ task, checked, tokens }) => ({
      ...(task && { task: checked === true }),
      blocks: toBlocks(tokens),
    })),
  };
}

function toTable({ header, align, rows }: Tokens.Table): TableBlock {
  return {
    kind: "table",
    align: align.map((side) => side ?? undefined),
    header: header.map(toInlines),
    rows: rows.map((row) => row.map(toInlines)),
  };
}

function toInlines(holder: object): Inline[] {
  const { tokens, text } = holder as { tokens?: readonly Token[]; text?: string };
  if (tokens !== undefined) return tokens.flatMap(toInline);
  return text === undefined || text === "" ? [] : [{ kind: "text", text }];
}

function toInline(token: Token): Inline[] {
  switch (token.type) {
    case "checkbox":
      return [];
    case "text":
      // In a loose list a text may contain tokens.
      if ("tokens" in token && token.tokens !== undefined) return token.tokens.flatMap(toInline);
      return [{ kind: "text", text: unescapeEntities((token as Tokens.Text).text) }];
    case "escape":
      return [{ kind: "text", text: (token as Tokens.Escape).text }];
    case "codespan":
      return [{ kind: "code", text: (token as Tokens.Codespan).text }];
    case "strong":
    case "em":
      return [{ kind: token.type, content: toInlines(token) }];
    case "del":
      return [{ kind: "strike", content: toInlines(token) }];
    case "link":
      return [{ kind: "link", content: toInlines(token), href: (token as Tokens.Link).href }];
    case "image": {
      const { text, href } = token as Tokens.Image;
      return [{ kind: "image", text, href }];
    }
    case "br":
      return [{ kind: "break" }];
    default:
      return [{ kind: "text", text: token.raw }];
  }
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
  "&nbsp;": " ",
};

function unescapeEntities(text: string): string {
  return text.replace(/&(?:amp|lt|gt|quot|#39|nbsp);/g, (entity) => ENTITIES[entity] ?? entity);
}
