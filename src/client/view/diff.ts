// Diffs as data: the lines of a unified diff with their numbers, and the difference of two texts. Pure.

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
  /** Too long to compare line by line: everything between the first and the last difference counts as changed. */
  isCoarse?: true;
}

const CONTEXT = 3;
/** Steps of the comparison; more than that is given up (isCoarse). */
const MAX_EDITS = 400;

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

/** What turns the old text into the new one, with a few lines around each change. */
export function diffTexts(before: string, after: string): Diff {
  const old = linesOf(before);
  const fresh = linesOf(after);
  let head = 0;
  while (head < old.length && head < fresh.length && old[head] === fresh[head]) head++;
  let tail = 0;
  const room = Math.min(old.length, fresh.length) - head;
  while (tail < room && old[old.length - 1 - tail] === fresh[fresh.length - 1 - tail]) tail++;
  const middleOld = old.slice(head, old.length - tail);
  const middleNew = fresh.slice(head, fresh.length - tail);
  const edits = shortestEdit(middleOld, middleNew);
  const signs = edits ?? [...middleOld.map((): Sign => "-"), ...middleNew.map((): Sign => "+")];
  const all: Sign[] = [
    ...Array.from({ length: head }, (): Sign => " "),
    ...signs,
    ...Array.from({ length: tail }, (): Sign => " "),
  ];
  const diff = counted(withContext(all, old, fresh));
  return edits === undefined ? { ...diff, isCoarse: true } : diff;
}

type Sign = " " | "-" | "+";

function linesOf(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

/** Myers' greedy comparison: the fewest lines removed and added; undefined when that takes too many steps. */
function shortestEdit(old: readonly string[], fresh: readonly string[]): Sign[] | undefined {
  const max = Math.min(old.length + fresh.length, MAX_EDITS);
  // reach[k]: how far in the old text a path on the diagonal k gets.
  const reach = new Map<number, number>([[1, 0]]);
  const history: Map<number, number>[] = [];
  const far = (k: number): number => reach.get(k) ?? -1;
  for (let edits = 0; edits <= max; edits++) {
    history.push(new Map(reach));
    for (let k = -edits; k <= edits; k += 2) {
      const isDown = k === -edits || (k !== edits && far(k - 1) < far(k + 1));
      let x = isDown ? far(k + 1) : far(k - 1) + 1;
      while (x < old.length && x - k < fresh.length && old[x] === fresh[x - k]) x++;
      reach.set(k, x);
      if (x >= old.length && x - k >= fresh.length) return trace(history, old.length, fresh.length);
    }
  }
  return undefined;
}

/** Walks the paths back from the end. */
function trace(history: readonly Map<number, number>[], oldEnd: number, newEnd: number): Sign[] {
  const signs: Sign[] = [];
  let x = oldEnd;
  let y = newEnd;
  for (let edits = history.length - 1; edits >= 0; edits--) {
    const reach = history[edits];
    const far = (k: number): number => reach?.get(k) ?? -1;
    const k = x - y;
    const isDown = k === -edits || (k !== edits && far(k - 1) < far(k + 1));
    const fromK = isDown ? k + 1 : k - 1;
    const fromX = far(fromK);
    const fromY = fromX - fromK;
    while (x > fromX && y > fromY && x > 0 && y > 0) {
      signs.push(" ");
      x--;
      y--;
    }
    if (edits === 0) break;
    signs.push(isDown ? "+" : "-");
    x = fromX;
    y = fromY;
  }
  return signs.reverse();
}

function withContext(signs: readonly Sign[], old: readonly string[], fresh: readonly string[]): DiffLine[] {
  const keep = signs.map(() => false);
  for (const [at, sign] of signs.entries()) {
    if (sign === " ") continue;
    for (let near = Math.max(0, at - CONTEXT); near <= Math.min(signs.length - 1, at + CONTEXT); near++) {
      keep[near] = true;
    }
  }
  const lines: DiffLine[] = [];
  let oldAt = 0;
  let newAt = 0;
  for (const [at, sign] of signs.entries()) {
    if (keep[at] && (at === 0 || !keep[at - 1])) {
      const span = spanFrom(signs, keep, at);
      lines.push({ kind: "hunk", text: `@@ -${place(oldAt, span.old)} +${place(newAt, span.new)} @@` });
    }
    if (sign !== "+") oldAt++;
    if (sign !== "-") newAt++;
    if (!keep[at]) continue;
    if (sign === "+") lines.push({ kind: "add", text: fresh[newAt - 1] ?? "", new: newAt });
    else if (sign === "-") lines.push({ kind: "remove", text: old[oldAt - 1] ?? "", old: oldAt });
    else lines.push({ kind: "same", text: old[oldAt - 1] ?? "", old: oldAt, new: newAt });
  }
  return lines;
}

function spanFrom(
  signs: readonly Sign[],
  keep: readonly boolean[],
  from: number,
): { old: number; new: number } {
  const span = { old: 0, new: 0 };
  for (let at = from; keep[at]; at++) {
    if (signs[at] !== "+") span.old++;
    if (signs[at] !== "-") span.new++;
  }
  return span;
}

/** As diffs write it: from which line on, and how many; an empty side begins at the line before. */
function place(before: number, count: number): string {
  return `${count === 0 ? before : before + 1},${count}`;
}
