// The entries of a view as the items of the feed: what a sub-agent did stands below the tool call that runs it, what is
// folded is left out, and a long text is cut into pieces that are drawn one by one. Pure but for its caches.
import {
  type Block,
  type CodeBlock,
  MarkdownReader,
  markdownBlocks,
} from "../../../src/client/view/markdown.ts";
import type { Entry, TextEntry, ToolEntry } from "../../../src/client/view/types.ts";

export interface FeedItem {
  /** Unique in the feed and stable. */
  key: string;
  entry: Entry;
  /** Of a text: these blocks of it. */
  blocks?: readonly Block[];
  isFirst: boolean;
  isLast: boolean;
}

/** Which entries the person unfolded (true) or folded (false); the others are as `isOpenByItself` says. */
export type Folds = ReadonlyMap<string, boolean>;

/** So much of a text is one piece: a screen or two. */
const PIECE_CHARS = 4_000;
const PIECE_LINES = 120;
/** Texts that never ended were cut off; a reader that is missed is made again. */
const MAX_READERS = 50;
/** A line takes room even when it is short. */
const LINE_CHARS = 30;

export class FeedItems {
  readonly #whole = new WeakMap<Entry, FeedItem[]>();
  readonly #cuts = new WeakMap<Block, Block[]>();
  /** Of texts that still grow, by the entry's id. */
  readonly #readers = new Map<string, MarkdownReader>();
  #last: { entries: readonly Entry[]; folds: Folds; items: readonly FeedItem[] } | undefined;

  /** The same list comes back for the same entries and folds. */
  of(entries: readonly Entry[], folds: Folds): readonly FeedItem[] {
    if (this.#last?.entries !== entries || this.#last.folds !== folds)
      this.#last = { entries, folds, items: this.#make(entries, folds) };
    return this.#last.items;
  }

  #make(entries: readonly Entry[], folds: Folds): FeedItem[] {
    const callers = new Map<string, ToolEntry>();
    for (const entry of entries) if (entry.kind === "tool") callers.set(entry.tool_use_id, entry);
    const below = new Map<string, Entry[]>();
    const roots: Entry[] = [];
    for (const entry of entries) {
      const caller = entry.parent === undefined ? undefined : callers.get(entry.parent);
      if (caller === undefined || caller === entry) roots.push(entry);
      else append(below, caller.id, entry);
    }
    const items: FeedItem[] = [];
    const add = (entry: Entry): void => {
      for (const item of this.#itemsOf(entry)) items.push(item);
      const inner = below.get(entry.id);
      if (inner === undefined || !isOpen(entry, folds)) return;
      below.delete(entry.id);
      for (const child of inner) add(child);
    };
    for (const entry of roots) add(entry);
    if (this.#readers.size > MAX_READERS) this.#readers.clear();
    return items;
  }

  #itemsOf(entry: Entry): FeedItem[] {
    const known = this.#whole.get(entry);
    if (known !== undefined) return known;
    const items =
      entry.kind === "text" ? this.#pieces(entry) : [{ key: entry.id, entry, isFirst: true, isLast: true }];
    this.#whole.set(entry, items);
    return items;
  }

  #pieces(entry: TextEntry): FeedItem[] {
    const pieces = inPieces(this.#blocks(entry).flatMap((block) => this.#cut(block)));
    return pieces.map((blocks, index) => ({
      key: index === 0 ? entry.id : `${entry.id}/${index}`,
      entry,
      blocks,
      isFirst: index === 0,
      isLast: index === pieces.length - 1,
    }));
  }

  /** The same block gives the same pieces, so that they are drawn once. */
  #cut(block: Block): readonly Block[] {
    if (block.kind !== "code" || sizeOf(block) <= PIECE_CHARS) return [block];
    const known = this.#cuts.get(block);
    if (known !== undefined) return known;
    const pieces = cutCode(block);
    this.#cuts.set(block, pieces);
    return pieces;
  }

  #blocks(entry: TextEntry): readonly Block[] {
    const reader = this.#readers.get(entry.id);
    if (!entry.isOpen) {
      this.#readers.delete(entry.id);
      return reader === undefined ? markdownBlocks(entry.text) : reader.read(entry.text).blocks;
    }
    const growing = reader ?? new MarkdownReader();
    this.#readers.set(entry.id, growing);
    return growing.read(entry.text).blocks;
  }
}

/** Unfolded unless the person says otherwise: what runs, what failed, and sub-agents at work. */
export function isOpen(entry: Entry, folds: Folds): boolean {
  return folds.get(entry.id) ?? isOpenByItself(entry);
}

function isOpenByItself(entry: Entry): boolean {
  if (entry.kind === "thinking") return false;
  if (entry.kind === "tool")
    return entry.agent !== undefined && (entry.status === "running" || entry.status === "waiting");
  return true;
}

/** What can be found in an entry, and copied from it. */
export function textOf(entry: Entry): string {
  switch (entry.kind) {
    case "tool":
      return [entry.name, entry.title, entry.output ?? ""].join("\n");
    case "request":
      return [entry.request.payload.title, entry.request.payload.command ?? ""].join("\n");
    case "result":
      return entry.error ?? "";
    default:
      return entry.text;
  }
}

function inPieces(blocks: readonly Block[]): Block[][] {
  const pieces: Block[][] = [[]];
  let size = 0;
  for (const block of blocks) {
    const more = sizeOf(block);
    if (size > 0 && size + more > PIECE_CHARS) {
      pieces.push([]);
      size = 0;
    }
    pieces.at(-1)?.push(block);
    size += more;
  }
  return pieces;
}

function sizeOf(block: Block): number {
  if (block.kind === "code") return block.text.length + LINE_CHARS * block.text.split("\n").length;
  if (block.kind === "list") return 400 * block.items.length;
  if (block.kind === "table") return 200 * block.rows.length;
  return 600;
}

function cutCode(block: CodeBlock): Block[] {
  const lines = block.text.split("\n");
  const count = Math.ceil(lines.length / PIECE_LINES);
  return Array.from({ length: count }, (_, index) => ({
    ...block,
    text: lines.slice(index * PIECE_LINES, (index + 1) * PIECE_LINES).join("\n"),
  }));
}

function append(map: Map<string, Entry[]>, key: string, entry: Entry): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [entry]);
  else list.push(entry);
}
