// The feed as rows. An entry that is the same object as before keeps its rows; a text that grows is laid out only from
// its last part on. What is a row of which entry is found by adding up how many rows each has.
import type { Entry, ToolEntry } from "../../client/view/types.ts";
import { entryRows, type Growing, MIN_WIDTH } from "./entry-rows.ts";
import { depthPrefix } from "./gutter.ts";
import { toRow } from "./style.ts";
import { agentLabel } from "./tool-rows.ts";
import type { FeedLayout, FeedOptions, Row } from "./types.ts";

export function createFeedLayout(): FeedLayout {
  return new Feed();
}

interface Laid {
  made: string;
  rows: readonly Row[];
}

class Feed implements FeedLayout {
  #entries: readonly Entry[] = [];
  #rows: (readonly Row[])[] = [];
  /** Where each entry begins, the blank row before it included; one more for the end. */
  #starts: number[] = [0];
  #options: FeedOptions = { width: 80, theme: { hasColour: false }, isOpen: () => false };
  /** What rows are made of besides the entry. */
  #madeFolded = "";
  #madeOpen = "";
  #laid = new WeakMap<Entry, Laid>();
  /** Entries that may still grow, by their ids. */
  #growing = new Map<string, Growing>();

  update(entries: readonly Entry[], options: FeedOptions): void {
    const { width, theme } = options;
    this.#options = options;
    this.#madeFolded = `${width} ${theme.hasColour} ${theme.isAscii ?? false}`;
    this.#madeOpen = `${this.#madeFolded} open`;
    const rows: (readonly Row[])[] = [];
    const starts = [0];
    let count = 0;
    let before: Entry | undefined;
    const agents = new Map<string, ToolEntry>();
    for (const entry of entries) {
      const label = this.#labelOf(before, entry, agents);
      const own = label === undefined ? this.#rowsOf(entry) : [label, ...this.#rowsOf(entry)];
      if (entry.kind === "tool" && entry.agent !== undefined) agents.set(entry.tool_use_id, entry);
      count += own.length + (isApart(before, entry) ? 1 : 0);
      rows.push(own);
      starts.push(count);
      before = entry;
    }
    this.#entries = entries;
    this.#rows = rows;
    this.#starts = starts;
    this.#forget();
  }

  get rowCount(): number {
    return this.#starts.at(-1) ?? 0;
  }

  slice(from: number, to: number): Row[] {
    const found: Row[] = [];
    const end = Math.min(to, this.rowCount);
    for (let row = Math.max(0, from), at = this.#indexAt(row); row < end; at++) {
      const first = this.#firstRow(at);
      if (row < first) found.push(this.#blank(at));
      const own = this.#rows[at] ?? [];
      const begin = Math.max(0, row - first);
      // One by one: there may be more rows than a call takes arguments.
      for (let next = begin; next < Math.min(own.length, end - first); next++) {
        const one = own[next];
        if (one !== undefined) found.push(one);
      }
      row = this.#starts[at + 1] ?? end;
    }
    return found;
  }

  rowOf(entryId: string): number | undefined {
    const at = this.#entries.findIndex(({ id }) => id === entryId);
    return at === -1 ? undefined : this.#firstRow(at);
  }

  entryAt(row: number): Entry | undefined {
    return row < 0 || row >= this.rowCount ? undefined : this.#entries[this.#indexAt(row)];
  }

  find(query: string, from: number, direction: 1 | -1): number | undefined {
    const total = this.rowCount;
    if (query === "" || total === 0) return undefined;
    const isExact = /\p{Lu}/u.test(query);
    const wanted = isExact ? query : query.toLowerCase();
    const all = this.slice(0, total);
    for (let step = 1; step <= total; step++) {
      const row = (((from + step * direction) % total) + total) % total;
      const text = all[row]?.text ?? "";
      if ((isExact ? text : text.toLowerCase()).includes(wanted)) return row;
    }
    return undefined;
  }

  #rowsOf(entry: Entry): readonly Row[] {
    const { width, theme } = this.#options;
    const isUnfolded = this.#options.isOpen(entry);
    const made = isUnfolded ? this.#madeOpen : this.#madeFolded;
    const known = this.#laid.get(entry);
    if (known?.made === made) return known.rows;
    const growing = this.#growingOf(entry, made);
    const rows = entryRows(entry, { width, theme, isUnfolded }, growing);
    this.#laid.set(entry, { made, rows });
    return rows;
  }

  /** Who speaks, where another one spoke before: several sub-agents at work take turns. */
  #labelOf(
    before: Entry | undefined,
    { id, parent, depth }: Entry,
    agents: ReadonlyMap<string, ToolEntry>,
  ): Row | undefined {
    if (parent === undefined || before === undefined || before.parent === parent) return undefined;
    const call = agents.get(parent);
    const isAsked = before.kind === "request" && before.request.item_id === parent;
    if (call === undefined || call === before || isAsked) return undefined;
    const { width, theme } = this.#options;
    const prefix = depthPrefix(depth, width);
    const room = Math.max(MIN_WIDTH, width) - (prefix[0]?.text.length ?? 0);
    return toRow([...prefix, ...agentLabel(call, room)], id, theme);
  }

  #growingOf(entry: Entry, made: string): Growing {
    const known = this.#growing.get(entry.id);
    const isGrowing = (entry.kind === "text" || entry.kind === "thinking") && entry.isOpen;
    if (!isGrowing) this.#growing.delete(entry.id);
    if (known?.made === made) return known;
    const growing: Growing = { made };
    if (isGrowing) this.#growing.set(entry.id, growing);
    return growing;
  }

  /** What left the view is not kept. */
  #forget(): void {
    if (this.#growing.size < 32) return;
    const ids = new Set(this.#entries.map(({ id }) => id));
    for (const id of this.#growing.keys()) if (!ids.has(id)) this.#growing.delete(id);
  }

  /** The last entry that begins at or before the row. */
  #indexAt(row: number): number {
    let low = 0;
    let high = this.#entries.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#starts[middle] ?? 0) <= row) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #firstRow(at: number): number {
    const end = this.#starts[at + 1] ?? 0;
    return end - (this.#rows[at]?.length ?? 0);
  }

  #blank(at: number): Row {
    const entry = this.#entries[at];
    const depth = Math.min(entry?.depth ?? 0, this.#entries[at - 1]?.depth ?? 0);
    const { width, theme } = this.#options;
    return toRow(depthPrefix(depth, width), entry?.id ?? "", theme);
  }
}

/** Whether a blank row stands between them: around what was said. */
function isApart(before: Entry | undefined, { kind }: Entry): boolean {
  if (before === undefined || kind === "result") return false;
  const isSaid = (one: Entry["kind"]): boolean => one === "user" || one === "text";
  return isSaid(kind) || isSaid(before.kind) || before.kind === "result";
}
