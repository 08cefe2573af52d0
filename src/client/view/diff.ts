// Diffs as data: the lines of a unified diff with their numbers. Pure.

export interface DiffLine {
  /** `meta`: what a diff says of itself ("--- a/x", "\ No newline at end of file"). `hunk`: where the next lines are. */
  kind: "same" | "add" | "remove" | "hunk" | "meta";
  /** Without the sign in front; a `hunk` or `meta` line is whole. */
  text: string;
  /** Its number in the old or the new text, where that is known. */
  old?: number;
  new?: number;
}

export interface Diff {
  lines: readonly DiffLine[];
  added: number;
  removed: number;
}

/** Lines before the first `@@` that have a sign are changes too: some tools leave the header out. */
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
    const kind = isInHunk || counts === undefined ? kindOf(line, isInHunk) : kindOutside(line);
    if (kind === "hunk" || kind === "meta") {
      lines.push({ kind, text: line });
      continue;
    }
    lines.push({ kind, text: line.slice(1), ...numbers(kind, counts) });
    if (kind !== "add") left.old--;
    if (kind !== "remove") left.new--;
    if (counts !== undefined && kind !== "add") counts.old++;
    if (counts !== undefined && kind !== "remove") counts.new++;
  }
  return counted(lines);
}

function kindOf(line: string, isInHunk: boolean): DiffLine["kind"] {
  if (!isInHunk && /^(?:--- |\+\+\+ |diff |index )/.test(line)) return "meta";
  if (line.startsWith("+")) return "add";
  if (line.startsWith("-")) return "remove";
  if (line.startsWith(" ") || (isInHunk && line === "")) return "same";
  return line.startsWith("@@") ? "hunk" : "meta";
}

/** Behind a hunk whose lines are all there; tools that count wrongly still get their signs read. */
function kindOutside(line: string): DiffLine["kind"] {
  return line === "" ? "meta" : kindOf(line, false);
}

function numbers(
  kind: "same" | "add" | "remove",
  at: { old: number; new: number } | undefined,
): { old?: number; new?: number } {
  if (at === undefined) return {};
  return { ...(kind !== "add" && { old: at.old }), ...(kind !== "remove" && { new: at.new }) };
}

function counted(lines: readonly DiffLine[]): Diff {
  const count = (kind: DiffLine["kind"]): number => lines.filter((line) => line.kind === kind).length;
  return { lines, added: count("add"), removed: count("remove") };
}
