// Parses unified diffs into lines with their numbers. Lenient: tools omit headers and miscount.

export interface DiffLine {
  /** `meta`: file headers and "\ No newline at end of file". `hunk`: an "@@" line. */
  kind: "same" | "add" | "remove" | "hunk" | "meta";
  /** Without the sign; complete for `hunk` and `meta`. */
  text: string;
  /** Line number in the old or new text, if known. */
  old?: number;
  new?: number;
}

export interface Diff {
  lines: readonly DiffLine[];
  added: number;
  removed: number;
}

/** Signed lines before the first `@@` count as changes: some tools omit the header. */
export function parseDiff(text: string): Diff {
  const lines: DiffLine[] = [];
  let counts: { old: number; new: number } | undefined;
  let left = { old: 0, new: 0 };
  for (const line of text.replace(/\n$/, "").split("\n")) {
    const hunk = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
    const isInHunk = counts !== undefined && (left.old > 0 || left.new > 0);
    if (hunk !== null && !isInHunk) {
      counts = { old: Number(hunk[1]), new: Number(hunk[3]) };
      left = { old: Number(hunk[2] ?? 1), new: Number(hunk[4] ?? 1) };
      lines.push({ kind: "hunk", text: line });
      continue;
    }
    const kind = isInHunk || counts === undefined ? readKind(line, isInHunk) : readKindOutside(line);
    if (kind === "hunk" || kind === "meta") {
      lines.push({ kind, text: line });
      continue;
    }
    lines.push({ kind, text: line.slice(1), ...numberLine(kind, counts) });
    if (kind !== "add") left.old--;
    if (kind !== "remove") left.new--;
    if (counts !== undefined && kind !== "add") counts.old++;
    if (counts !== undefined && kind !== "remove") counts.new++;
  }
  return countLines(lines);
}

function readKind(line: string, isInHunk: boolean): DiffLine["kind"] {
  if (!isInHunk && /^(?:--- |\+\+\+ |diff |index )/.test(line)) return "meta";
  if (line.startsWith("+")) return "add";
  if (line.startsWith("-")) return "remove";
  if (line.startsWith(" ") || (isInHunk && line === "")) return "same";
  return line.startsWith("@@") ? "hunk" : "meta";
}

/** For lines after a complete hunk: tools that miscount still get their signs read. */
function readKindOutside(line: string): DiffLine["kind"] {
  return line === "" ? "meta" : readKind(line, false);
}

function numberLine(
  kind: "same" | "add" | "remove",
  at: { old: number; new: number } | undefined,
): { old?: number; new?: number } {
  if (at === undefined) return {};
  return { ...(kind !== "add" && { old: at.old }), ...(kind !== "remove" && { new: at.new }) };
}

function countLines(lines: readonly DiffLine[]): Diff {
  const count = (kind: DiffLine["kind"]): number => lines.filter((line) => line.kind === kind).length;
  return { lines, added: count("add"), removed: count("remove") };
}
