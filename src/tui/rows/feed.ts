// The feed as rows. Unchanged entries (same object) keep their rows, and growing text is laid out from its last part on.
import type { Entry, ToolEntry } from "../../client/view/types.ts";
import { drawEntry, type Growing, MIN_WIDTH } from "./entry-rows.ts";
import { drawDepth } from "./gutter.ts";
import { toRow } from "./style.ts";
import { drawAgentLabel } from "./tool-rows.ts";
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
  /** First row of each entry, including the blank row before it, and the total. */
  #starts: number[] = [0];
  #options: FeedOptions = { width: 80, theme: { hasColor: false }, isOpen: () => false };
  /** Cache keys: everything besides the entry that rows depend on. */
  #madeFolded = "";
  #madeOpen = "";
  #laid = new WeakMap<Entry, Laid>();
  /** Growing entries by id. */
  #growing = new Map<string, Growing>();

  update(entries: readonly Entry[], options: FeedOptions): void {
    const { width, theme } = options;
    this.#options = options;
    this.#madeFolded = `${width} ${theme.hasColor} ${theme.isAscii ?? false}`;
    this.#madeOpen = `${this.#madeFolded} open`;
    const rows: (readonly Row[])[] = [];
    const starts = [0];
    let count = 0;
    let before: Entry | undefined;
    const agents = new Map<string, ToolEntry>();
    for (const entry of entries) {
      const label = this.#makeLabel(before, entry, agents);
      const own = label === undefined ? this.#getRows(entry) : [label, ...this.#getRows(entry)];
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
      // Not push(...rows): there may be more rows than a call takes arguments.
      for (let next = begin; next < Math.min(own.length, end - first); next++) {
        const one = own[next];
        if (one !== undefined) found.push(one);
      }
      row = this.#starts[at + 1] ?? end;
    }
    return found;
  }

  findRow(entryId: string): number | undefined {
    const at = this.#entries.findIndex(({ id }) => id === entryId);
    return at === -1 ? undefined : this.#firstRow(at);
  }

  findEntry(row: number): Entry | undefined {
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

  #getRows(entry: Entry): readonly Row[] {
    const { width, theme } = this.#options;
    const isUnfolded = this.#options.isOpen(entry);
    const made = isUnfolded ? this.#madeOpen : this.#madeFolded;
    const known = this.#laid.get(entry);
    if (known?.made === made) return known.rows;
    const growing = this.#getGrowing(entry, made);
    const rows = drawEntry(entry, { width, theme, isUnfolded }, growing);
    this.#laid.set(entry, { made, rows });
    return rows;
  }

  /** A label where the speaker changes between concurrent sub-agents. */
  #makeLabel(
    before: Entry | undefined,
    { id, parent, depth }: Entry,
    agents: ReadonlyMap<string, ToolEntry>,
  ): Row | undefined {
    if (parent === undefined || before === undefined || before.parent === parent) return undefined;
    const call = agents.get(parent);
    const isAsked = before.kind === "request" && before.request.item_id === parent;
    if (call === undefined || call === before || isAsked) return undefined;
    const { width, theme } = this.#options;
    const prefix = drawDepth(depth, width);
    const room = Math.max(MIN_WIDTH, width) - (prefix[0]?.text.length ?? 0);
    return toRow([...prefix, ...drawAgentLabel(call, room)], id, theme);
  }

  #getGrowing(entry: Entry, made: string): Growing {
    const known = this.#growing.get(entry.id);
    const isGrowing = (entry.kind === "text" || entry.kind === "thinking") && entry.isOpen;
    if (!isGrowing) this.#growing.delete(entry.id);
    if (known?.made === made) return known;
    const growing: Growing = { made };
    if (isGrowing) this.#growing.set(entry.id, growing);
    return growing;
  }

  /** Drops state of entries that left the view. */
  #forget(): void {
    if (this.#growing.size < 32) return;
    const ids = new Set(this.#entries.map(({ id }) => id));
    for (const id of this.#growing.keys()) if (!ids.has(id)) this.#growing.delete(id);
  }

  /** Index of the entry that contains the row. */
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
    return toRow(drawDepth(depth, width), entry?.id ?? "", theme);
  }
}

/** Messages have a blank row around them. */
function isApart(before: Entry | undefined, { kind }: Entry): boolean {
  if (before === undefined || kind === "result") return false;
  const isSaid = (one: Entry["kind"]): boolean => one === "user" || one === "text";
  return isSaid(kind) || isSaid(before.kind) || before.kind === "result";
}
