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

/** `kind` of a line that says what the writer found missing or changed when it opened the chain. */
export const GAP = "gap";

interface Entry {
  line: Buffer;
  file: string;
  /** Its position in the file, from 1. */
  at: number;
}

/**
 * Files oldest first, with their bytes. `head`: as recorded when the last line was written, if known. `from`: the number of
 * the first line to check: the first of all if older files were removed.
 */
export function checkChain(
  files: readonly { file: string; bytes: Buffer }[],
  head: ChainHead | undefined,
  from = 1,
): ChainReport {
  const report: ChainReport = { lines: 0 };
  const { entries, torn } = listEntries(files, from);
  let before: ChainHead | undefined;
  for (const [at, entry] of entries.entries()) {
    const n: number = (before?.n ?? from - 1) + 1;
    const { line, file } = entry;
    const hash = hashLine(line);
    const place = { n, file, line: entry.at };
    const fault = findFault(line, n, before);
    if (fault !== undefined) return { ...report, fault: { ...place, fault } };
    const next = entries[at + 1];
    if (before !== undefined && readPrevious(line) !== before.hash)
      return { ...report, fault: blame(place, entries[at - 1], confirms(next, hash, n, head)) };
    if (n === head?.n && hash !== head.hash)
      return { ...report, fault: { ...place, fault: "is not the line that was written" } };
    before = { n, hash };
    report.lines += 1;
    report.first_n ??= n;
    report.last_n = n;
    const gap = describeGap(line);
    if (gap !== undefined) return { ...report, fault: { ...place, fault: gap } };
  }
  const last = entries.at(-1);
  const place = {
    n: (before?.n ?? 0) + 1,
    file: torn?.file ?? last?.file ?? files.at(-1)?.file ?? "",
    line: torn?.at ?? (last === undefined ? 1 : last.at + 1),
  };
  if (torn !== undefined) {
    const fault = `truncated: the line ends after ${torn.line.length} bytes, without a newline`;
    return { ...report, fault: { ...place, fault } };
  }
  if (head === undefined || (before?.n ?? 0) >= head.n) return report;
  const fault = `truncated: lines ${place.n} to ${head.n} were written and are missing at the end`;
  return { ...report, fault: { ...place, fault } };
}

/** Whole lines from number `from` on, and what follows the last one. */
function listEntries(
  files: readonly { file: string; bytes: Buffer }[],
  from: number,
): { entries: Entry[]; torn: Entry | undefined } {
  const entries: Entry[] = [];
  for (const { file, bytes } of files) {
    const { lines, rest } = splitLines(bytes);
    for (const [at, line] of lines.entries()) entries.push({ line, file, at: at + 1 });
    if (rest.length === 0) continue;
    const torn = { line: rest, file, at: lines.length + 1 };
    return { entries: startAt(entries, from), torn };
  }
  return { entries: startAt(entries, from), torn: undefined };
}

function startAt(entries: readonly Entry[], from: number): Entry[] {
  const start = from === 1 ? 0 : entries.findIndex(({ line }) => parseLine(line)?.["n"] === from);
  return entries.slice(Math.max(0, start));
}

/** What follows the line, or the head, has its hash: so it is as it was written. */
function confirms(
  next: Entry | undefined,
  hash: string,
  n: number,
  head: ChainHead | undefined,
): boolean | undefined {
  if (next !== undefined) return readPrevious(next.line) === hash;
  return head?.n === n ? head.hash === hash : undefined;
}

/** A line that does not name the hash of the one before: either may be the one that was changed. */
function blame(place: Omit<ChainFault, "fault">, before: Entry | undefined, isIntact?: boolean): ChainFault {
  if (isIntact === true && before !== undefined) {
    const fault = `was changed: line ${place.n} has another hash of it`;
    return { n: place.n - 1, file: before.file, line: before.at, fault };
  }
  const fault = `does not follow line ${place.n - 1}: one of the two was changed`;
  return { ...place, fault: isIntact === false ? "was changed" : fault };
}

function describeGap(line: Buffer): string | undefined {
  const value = parseLine(line);
  if (value?.["kind"] !== GAP) return undefined;
  return `records damage that was found when the audit was opened: ${String(value["why"])}`;
}

function readPrevious(line: Buffer): unknown {
  return parseLine(line)?.["prev"];
}

function findFault(line: Buffer, n: number, before: ChainHead | undefined): string | undefined {
  const value = parseLine(line);
  if (value === undefined) return "is not a JSON object";
  if (before === undefined && typeof value["n"] === "number" && value["n"] > n)
    return `missing: the file starts with line ${value["n"]}; if you removed older files, verify from there`;
  if (value["n"] !== n) return `has the number ${JSON.stringify(value["n"])} instead of ${n}`;
  const { prev } = value;
  if (typeof prev !== "string") return "has no hash of the line before";
  // Older files may have been removed; only the very first line has nothing before it.
  return n === 1 && prev !== NO_LINE ? "is the first line, but names one before it" : undefined;
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
