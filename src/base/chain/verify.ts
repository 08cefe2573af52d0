// Checks a chain of lines: each is a JSON object with its number `n` and, in `prev`, the SHA-256 of the line before. A line
// that was changed, removed, added or moved breaks the chain at the first place where it shows.
import { createHash } from "node:crypto";

/** `prev` of the first line. */
export const NO_LINE = "0".repeat(64);

/** The last line that was written, kept apart from the lines, so that a missing end is noticed. */
export interface ChainHead {
  n: number;
  hash: string;
}

export interface ChainFault {
  /** The number of the first line that does not fit, as its position says. */
  n: number;
  file: string;
  /** Its position in the file, from 1. */
  line: number;
  fault: string;
}

export interface ChainReport {
  lines: number;
  /** Numbers of the first and last line. */
  first_n?: number;
  last_n?: number;
  fault?: ChainFault;
}

export function hashLine(line: string | Buffer): string {
  return createHash("sha256").update(line).digest("hex");
}

/**
 * Files oldest first, with their bytes. `head`: as recorded when the last line was written, if known. `from`: the number of
 * the first line, if older files were removed.
 */
export function checkChain(
  files: readonly { file: string; bytes: Buffer }[],
  head: ChainHead | undefined,
  from = 1,
): ChainReport {
  const report: ChainReport = { lines: 0 };
  let before: ChainHead | undefined;
  let headHash: string | undefined;
  for (const { file, bytes } of files) {
    const { lines, rest } = splitLines(bytes);
    for (const [at, line] of lines.entries()) {
      const n: number = (before?.n ?? from - 1) + 1;
      const fault = findFault(line, n, before);
      if (fault !== undefined) return { ...report, fault: { n, file, line: at + 1, fault } };
      before = { n, hash: hashLine(line) };
      if (n === head?.n) headHash = before.hash;
      report.lines += 1;
      report.first_n ??= n;
      report.last_n = n;
    }
    if (rest.length > 0) {
      const fault = `truncated: the line ends after ${rest.length} bytes, without a newline`;
      return { ...report, fault: { n: (before?.n ?? 0) + 1, file, line: lines.length + 1, fault } };
    }
  }
  const last = files.at(-1);
  if (head === undefined || last === undefined) return report;
  const place = { n: (before?.n ?? 0) + 1, file: last.file, line: splitLines(last.bytes).lines.length + 1 };
  if ((before?.n ?? 0) < head.n) {
    const fault = `truncated: lines ${place.n} to ${head.n} were written and are missing at the end`;
    return { ...report, fault: { ...place, fault } };
  }
  if (headHash !== undefined && headHash !== head.hash)
    return { ...report, fault: { ...place, n: head.n, fault: "is not the line that was written" } };
  return report;
}

function findFault(line: Buffer, n: number, before: ChainHead | undefined): string | undefined {
  const value = parseLine(line);
  if (value === undefined) return "is not a JSON object";
  if (before === undefined && typeof value["n"] === "number" && value["n"] > n)
    return `missing: the file starts with line ${value["n"]}; if you removed older files, verify from there`;
  if (value["n"] !== n) return `has the number ${JSON.stringify(value["n"])} instead of ${n}`;
  const { prev } = value;
  if (before === undefined) {
    // Older files may have been removed; only the very first line has nothing before it.
    if (n === 1 && prev !== NO_LINE) return "is the first line, but names one before it";
    return typeof prev === "string" ? undefined : "has no hash of the line before";
  }
  return prev === before.hash ? undefined : `does not follow line ${before.n}: one of the two was changed`;
}

export function parseLine(line: Buffer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(line));
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** Complete lines, without their newlines, and what follows the last one. */
export function splitLines(bytes: Buffer): { lines: Buffer[]; rest: Buffer } {
  const lines: Buffer[] = [];
  let start = 0;
  for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, start)) {
    lines.push(bytes.subarray(start, end));
    start = end + 1;
  }
  return { lines, rest: bytes.subarray(start) };
}
