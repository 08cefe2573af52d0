// Converts view entries to feed items: sub-agent entries below their tool call, collapsed ones omitted, and long texts
// split into pieces.
import {
  type Block,
  type CodeBlock,
  MarkdownReader,
  parseMarkdownBlocks,
} from "../../../src/client/view/markdown.ts";
import type { Entry, TextEntry, ToolEntry } from "../../../src/client/view/types.ts";

export interface FeedItem {
  /** Unique and stable. */
  key: string;
  entry: Entry;
  /** For texts: the blocks of this piece. */
  blocks?: readonly Block[];
  isFirst: boolean;
  isLast: boolean;
}

/** Entries the user expanded (true) or collapsed (false); others follow `isOpenByDefault`. */
export type Folds = ReadonlyMap<string, boolean>;

/** Size of a piece: a screen or two. */
const PIECE_CHARS = 4_000;
const PIECE_LINES = 120;
/** Bounds memory for texts that never end; a dropped reader is recreated. */
const MAX_READERS = 50;
/** Minimum size of a line. */
const LINE_CHARS = 30;

export class FeedItems {
  readonly #whole = new WeakMap<Entry, FeedItem[]>();
  readonly #cuts = new WeakMap<Block, Block[]>();
  /** For growing texts, by entry id. */
  readonly #readers = new Map<string, MarkdownReader>();
  #last: { entries: readonly Entry[]; folds: Folds; items: readonly FeedItem[] } | undefined;

  /** Returns the same list for the same entries and folds. */
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
      for (const item of this.#toItems(entry)) items.push(item);
      const inner = below.get(entry.id);
      if (inner === undefined || !isOpen(entry, folds)) return;
      below.delete(entry.id);
      for (const child of inner) add(child);
    };
    for (const entry of roots) add(entry);
    if (this.#readers.size > MAX_READERS) this.#readers.clear();
    return items;
  }

  #toItems(entry: Entry): FeedItem[] {
    const known = this.#whole.get(entry);
    if (known !== undefined) return known;
    const items =
      entry.kind === "text" ? this.#pieces(entry) : [{ key: entry.id, entry, isFirst: true, isLast: true }];
    this.#whole.set(entry, items);
    return items;
  }

  #pieces(entry: TextEntry): FeedItem[] {
    const pieces = groupPieces(this.#blocks(entry).flatMap((block) => this.#splitBlock(block)));
    return pieces.map((blocks, index) => ({
      key: index === 0 ? entry.id : `${entry.id}/${index}`,
      entry,
      blocks,
      isFirst: index === 0,
      isLast: index === pieces.length - 1,
    }));
  }

  /** Cached, so that unchanged pieces are not redrawn. */
  #splitBlock(block: Block): readonly Block[] {
    if (block.kind !== "code" || estimateSize(block) <= PIECE_CHARS) return [block];
    const known = this.#cuts.get(block);
    if (known !== undefined) return known;
    const pieces = splitCode(block);
    this.#cuts.set(block, pieces);
    return pieces;
  }

  #blocks(entry: TextEntry): readonly Block[] {
    const reader = this.#readers.get(entry.id);
    if (!entry.isOpen) {
      this.#readers.delete(entry.id);
      return reader === undefined ? parseMarkdownBlocks(entry.text) : reader.read(entry.text).blocks;
    }
    const growing = reader ?? new MarkdownReader();
    this.#readers.set(entry.id, growing);
    return growing.read(entry.text).blocks;
  }
}

/** Whether an entry is expanded. */
export function isOpen(entry: Entry, folds: Folds): boolean {
  return folds.get(entry.id) ?? isOpenByDefault(entry);
}

function isOpenByDefault(entry: Entry): boolean {
  if (entry.kind === "thinking") return false;
  if (entry.kind === "tool")
    return entry.agent !== undefined && (entry.status === "running" || entry.status === "waiting");
  return true;
}

/** Text for search and copy. */
export function toText(entry: Entry): string {
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

function groupPieces(blocks: readonly Block[]): Block[][] {
  const pieces: Block[][] = [[]];
  let size = 0;
  for (const block of blocks) {
    const more = estimateSize(block);
    if (size > 0 && size + more > PIECE_CHARS) {
      pieces.push([]);
      size = 0;
    }
    pieces.at(-1)?.push(block);
    size += more;
  }
  return pieces;
}

function estimateSize(block: Block): number {
  if (block.kind === "code") return block.text.length + LINE_CHARS * block.text.split("\n").length;
  if (block.kind === "list") return 400 * block.items.length;
  if (block.kind === "table") return 200 * block.rows.length;
  return 600;
}

function splitCode(block: CodeBlock): Block[] {
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
