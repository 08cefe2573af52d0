// Code as lines of pieces in colours; broken anywhere, because blanks mean something in it.
import { highlight, isLanguage } from "../../client/view/highlight.ts";
import { expandTabs, safeText } from "./safe.ts";
import { type Piece, piece, STYLE } from "./style.ts";
import { wrapHard } from "./wrap.ts";

/** A line is broken at least here, so that a long one can be laid out in parts. */
const MAX_LINE = 4_000;
/** What `highlight` still colours. */
const MAX_COLOURED = 20_000;

const SCOPES: Readonly<Record<string, string>> = {
  keyword: STYLE.keyword,
  built_in: STYLE.type,
  type: STYLE.type,
  class: STYLE.type,
  literal: STYLE.number,
  number: STYLE.number,
  string: STYLE.string,
  regexp: STYLE.string,
  subst: STYLE.none,
  comment: STYLE.dim,
  quote: STYLE.dim,
  doctag: STYLE.dim,
  meta: STYLE.dim,
  title: STYLE.name,
  function: STYLE.name,
  section: STYLE.name,
  attr: STYLE.name,
  attribute: STYLE.name,
  name: STYLE.keyword,
  tag: STYLE.dim,
  variable: STYLE.none,
  addition: STYLE.added,
  deletion: STYLE.removed,
};

/** The code as rows, not wider than `width`. */
export function codeLines(text: string, lang: string, width: number): Piece[][] {
  const lines = isColoured(text, lang) ? colouredLines(text, lang) : text.split("\n").flatMap(plainLine);
  return lines.flatMap((line) => wrapHard(line, width));
}

/** Code of other languages and long code has no colours: its lines can be laid out one by one. */
export function isColoured(text: string, lang: string): boolean {
  return text.length <= MAX_COLOURED && isLanguage(lang);
}

function plainLine(line: string): Piece[][] {
  return chunksOf(line).map((chunk) => [piece(expandTabs(safeText(chunk)))]);
}

/** The lines of the code, one for each of its own; tabs are blanks. */
export function colouredLines(text: string, lang: string): Piece[][] {
  const safe = safeText(text).split("\n").map(expandTabs).join("\n");
  return highlight(safe, lang).map((spans) =>
    spans.map(({ text: part, scope }) => piece(part, styleOf(scope))),
  );
}

function styleOf(scope: string): string {
  return (Object.hasOwn(SCOPES, scope) ? SCOPES[scope] : undefined) ?? STYLE.none;
}

/** A long line in parts that are laid out one by one. */
export function chunksOf(text: string): string[] {
  if (text.length <= MAX_LINE) return [text];
  const chunks: string[] = [];
  for (let at = 0; at < text.length; ) {
    const end = chunkEnd(text, at);
    chunks.push(text.slice(at, end));
    at = end;
  }
  return chunks;
}

/** Where the part that begins at `at` ends. */
export function chunkEnd(text: string, at: number): number {
  const end = at + MAX_LINE;
  const unit = text.charCodeAt(end);
  return unit >= 0xdc00 && unit <= 0xdfff ? end - 1 : end;
}
