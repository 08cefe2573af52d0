// Explains why a string was not found in a file: the most likely mistake, with the actual text.
import { pickNearest } from "../../base/nearest.ts";

const MAX_COMPARED_LINES = 5000;
const MAX_COMPARED_CHARS = 200;
const MAX_SHOWN_LINES = 10;
const MAX_SHOWN_CHARS = 1000;

export function explainMiss(text: string, wanted: string): string {
  if (text === "") return "the file is empty; use write_file";
  return (
    checkLineEnds(text, wanted) ??
    checkLineNumbers(text, wanted) ??
    checkWhitespace(text, wanted) ??
    findNearest(text, wanted) ??
    "read the file again and copy the text exactly"
  );
}

function checkLineEnds(text: string, wanted: string): string | undefined {
  const plain = wanted.replaceAll("\r\n", "\n");
  if (!wanted.includes("\r\n") && text.includes(plain.replaceAll("\n", "\r\n"))) {
    return "the file has CRLF line ends; write \\r\\n for every line end in oldString and newString";
  }
  if (wanted.includes("\r\n") && text.includes(plain)) {
    return "the file has LF line ends; write \\n, not \\r\\n, in oldString and newString";
  }
  return undefined;
}

function checkLineNumbers(text: string, wanted: string): string | undefined {
  const bare = wanted.replace(/^ *\d+\t/gm, "");
  if (bare === wanted || !text.includes(bare)) return undefined;
  return "oldString contains the line numbers of read_file; leave them out";
}

/** Finds the same text with different whitespace. */
function checkWhitespace(text: string, wanted: string): string | undefined {
  const lines = text.split("\n");
  const squeezed = lines.map(squeeze);
  const sought = wanted.split("\n").map(squeeze);
  while (sought.length > 1 && sought[0] === "") sought.shift();
  while (sought.length > 1 && sought.at(-1) === "") sought.pop();
  if (sought.every((line) => line === "")) return undefined;
  const at = squeezed.findIndex((_, index) =>
    sought.every((line, offset) => squeezed[index + offset] === line),
  );
  if (at === -1) return undefined;
  return `only the whitespace differs; from line ${at + 1} the file reads:\n${quoteLines(lines.slice(at, at + sought.length))}`;
}

function findNearest(text: string, wanted: string): string | undefined {
  const first = wanted
    .split("\n")
    .map((line) => line.trim())
    .find((line) => line !== "");
  if (first === undefined || first.length > MAX_COMPARED_CHARS) return undefined;
  const lines = text.split("\n", MAX_COMPARED_LINES);
  const candidates = lines.map((line) => line.trim());
  const near = pickNearest(
    first,
    candidates.filter((line) => line !== "" && line.length <= MAX_COMPARED_CHARS),
  );
  if (near === undefined) return undefined;
  const at = candidates.indexOf(near);
  if (near === first) {
    return `its first line matches line ${at + 1}, but the following lines differ:\n${quoteLines(lines.slice(at, at + wanted.split("\n").length))}`;
  }
  return `the closest match is line ${at + 1}:\n${quoteLines(lines.slice(at, at + 1))}`;
}

function squeeze(line: string): string {
  return line.replace(/\s+/g, "");
}

function quoteLines(lines: readonly string[]): string {
  return lines.slice(0, MAX_SHOWN_LINES).join("\n").slice(0, MAX_SHOWN_CHARS);
}
