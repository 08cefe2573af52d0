// Why a string was not found in a file: what the model most likely got wrong, with the text that is really there.
import { nearest } from "../../base/nearest.ts";

const MAX_COMPARED_LINES = 5000;
const MAX_COMPARED_CHARS = 200;
const MAX_SHOWN_LINES = 10;
const MAX_SHOWN_CHARS = 1000;

export function missHint(text: string, wanted: string): string {
  if (text === "") return "the file is empty; use write_file";
  return (
    lineEndHint(text, wanted) ??
    lineNumberHint(text, wanted) ??
    whitespaceHint(text, wanted) ??
    nearestHint(text, wanted) ??
    "read the file again and copy the text exactly"
  );
}

function lineEndHint(text: string, wanted: string): string | undefined {
  const plain = wanted.replaceAll("\r\n", "\n");
  if (!wanted.includes("\r\n") && text.includes(plain.replaceAll("\n", "\r\n"))) {
    return "its lines end with CRLF; write \\r\\n for every line end in oldString and newString";
  }
  if (wanted.includes("\r\n") && text.includes(plain)) {
    return "its lines end with LF; write \\n and not \\r\\n in oldString and newString";
  }
  return undefined;
}

function lineNumberHint(text: string, wanted: string): string | undefined {
  const bare = wanted.replace(/^ *\d+\t/gm, "");
  if (bare === wanted || !text.includes(bare)) return undefined;
  return "oldString contains the line numbers of read_file; leave them out";
}

/** The same words in other whitespace. */
function whitespaceHint(text: string, wanted: string): string | undefined {
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
  return `only the whitespace differs; line ${at + 1} on reads:\n${shown(lines.slice(at, at + sought.length))}`;
}

function nearestHint(text: string, wanted: string): string | undefined {
  const first = wanted
    .split("\n")
    .map((line) => line.trim())
    .find((line) => line !== "");
  if (first === undefined || first.length > MAX_COMPARED_CHARS) return undefined;
  const lines = text.split("\n", MAX_COMPARED_LINES);
  const candidates = lines.map((line) => line.trim());
  const near = nearest(
    first,
    candidates.filter((line) => line !== "" && line.length <= MAX_COMPARED_CHARS),
  );
  if (near === undefined) return undefined;
  const at = candidates.indexOf(near);
  if (near === first) {
    return `its first line is there (line ${at + 1}), but what follows differs:\n${shown(lines.slice(at, at + wanted.split("\n").length))}`;
  }
  return `the nearest is line ${at + 1}:\n${shown(lines.slice(at, at + 1))}`;
}

function squeeze(line: string): string {
  return line.replace(/\s+/g, "");
}

function shown(lines: readonly string[]): string {
  return lines.slice(0, MAX_SHOWN_LINES).join("\n").slice(0, MAX_SHOWN_CHARS);
}
