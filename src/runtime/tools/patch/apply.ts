// Applies the chunks of a patch to the text of one file. Pure.
import { type PatchChunk, patchError } from "./parse.ts";

/** How lines are compared, from exact to lax. */
const SAME: readonly ((a: string, b: string) => boolean)[] = [
  (a, b) => a === b,
  (a, b) => a.trimEnd() === b.trimEnd(),
  (a, b) => a.trim() === b.trim(),
];

/** Throws `bad_patch`. Line ends of the file are kept. */
export function applyChunks(path: string, text: string, chunks: readonly PatchChunk[]): string {
  const isCrlf = /\r\n/.test(text) && !/(^|[^\r])\n/.test(text);
  const lines = (isCrlf ? text.replaceAll("\r\n", "\n") : text).split("\n");
  const hasEnd = lines.at(-1) === "";
  if (hasEnd) lines.pop();
  const result: string[] = [];
  let at = 0;
  for (const chunk of chunks) {
    const from = findChunk(path, lines, chunk, at);
    result.push(...lines.slice(at, from));
    at = from;
    for (const { kind, text: added } of chunk.lines) {
      if (kind === "add") result.push(added);
      // The file's own line: the patch's may differ in white space.
      if (kind === "context") result.push(lines[at] ?? "");
      if (kind !== "add") at += 1;
    }
  }
  result.push(...lines.slice(at));
  const end = isCrlf ? "\r\n" : "\n";
  return result.join(end) + (result.length > 0 && (hasEnd || text === "") ? end : "");
}

/** The index of the chunk's first line. */
function findChunk(path: string, lines: readonly string[], chunk: PatchChunk, at: number): number {
  const from = chunk.header === undefined ? at : findHeader(path, lines, chunk, at) + 1;
  const wanted = chunk.lines.flatMap(({ kind, text }) => (kind === "add" ? [] : [text]));
  // Only new lines: after the header, or at the end.
  if (wanted.length === 0) return chunk.header === undefined ? lines.length : from;
  for (const isSame of SAME) {
    const places = listPlaces(lines, wanted, { from, isAtEnd: chunk.isAtEnd, isSame });
    const [first] = places;
    if (first === undefined) continue;
    if (places.length === 1 || chunk.header !== undefined) return first;
    const shown = places.slice(0, 5).map((place) => place + 1);
    throw patchError(
      chunk.line,
      `the lines to replace occur ${places.length} times in ${path} (lines ${shown.join(", ")}${places.length > 5 ? ", …" : ""}); add lines around them, or "@@ " with a line above`,
    );
  }
  const [first = ""] = wanted;
  throw patchError(
    chunk.line,
    `${path} does not have these lines after line ${from}: ${JSON.stringify(first.trim())}…; read the file again`,
  );
}

function findHeader(
  path: string,
  lines: readonly string[],
  { header = "", line }: PatchChunk,
  at: number,
): number {
  for (const isSame of SAME) {
    const found = lines.findIndex((text, index) => index >= at && isSame(text, header));
    if (found !== -1) return found;
  }
  throw patchError(line, `${path} has no line ${JSON.stringify(header.trim())} after line ${at}`);
}

function listPlaces(
  lines: readonly string[],
  wanted: readonly string[],
  how: { from: number; isAtEnd: boolean; isSame(a: string, b: string): boolean },
): number[] {
  const last = lines.length - wanted.length;
  const places: number[] = [];
  for (let at = how.isAtEnd ? Math.max(how.from, last) : how.from; at <= last; at += 1) {
    if (wanted.every((text, offset) => how.isSame(lines[at + offset] ?? "", text))) places.push(at);
  }
  return places;
}
