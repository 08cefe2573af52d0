// Code as highlighted rows; wrapped anywhere, because whitespace matters.
import { highlight, isLanguage } from "../../client/view/highlight.ts";
import { expandTabs, toSafeText } from "./safe.ts";
import { createPiece, type Piece, STYLE } from "./style.ts";
import { wrapHard } from "./wrap.ts";

/** Longer lines are split, so that they can be laid out in parts. */
const MAX_LINE = 4_000;
/** The limit of `highlight`. */
const MAX_COLORED = 20_000;

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

export function drawCode(text: string, lang: string, width: number): Piece[][] {
  const lines = isColored(text, lang) ? colorLines(text, lang) : text.split("\n").flatMap(plainLine);
  return lines.flatMap((line) => wrapHard(line, width));
}

/** Code that is not highlighted can be laid out line by line. */
export function isColored(text: string, lang: string): boolean {
  return text.length <= MAX_COLORED && isLanguage(lang);
}

function plainLine(line: string): Piece[][] {
  return splitChunks(line).map((chunk) => [createPiece(expandTabs(toSafeText(chunk)))]);
}

/** One highlighted line per source line, with tabs expanded. */
export function colorLines(text: string, lang: string): Piece[][] {
  const safe = toSafeText(text).split("\n").map(expandTabs).join("\n");
  return highlight(safe, lang).map((spans) =>
    spans.map(({ text: part, scope }) => createPiece(part, getCodeStyle(scope))),
  );
}

export function getCodeStyle(scope: string): string {
  return (Object.hasOwn(SCOPES, scope) ? SCOPES[scope] : undefined) ?? STYLE.none;
}

export function splitChunks(text: string): string[] {
  if (text.length <= MAX_LINE) return [text];
  const chunks: string[] = [];
  for (let at = 0; at < text.length; ) {
    const end = findChunkEnd(text, at);
    chunks.push(text.slice(at, end));
    at = end;
  }
  return chunks;
}

export function findChunkEnd(text: string, at: number): number {
  const end = at + MAX_LINE;
  const unit = text.charCodeAt(end);
  return unit >= 0xdc00 && unit <= 0xdfff ? end - 1 : end;
}
