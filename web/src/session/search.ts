// Search in the feed.
import type { Entry } from "../../../src/client/view/types.ts";
import { toText } from "./items.ts";

const MARKS = "search";
const MAX_MARKS = 500;

/** Caches results per entry, because it runs on every draw while a session streams. */
export class EntryFinder {
  #wanted = "";
  #known = new WeakMap<Entry, boolean>();

  /** Ids of matching entries, oldest first. Case-insensitive. */
  find(entries: readonly Entry[], words: string): string[] {
    const wanted = words.trim().toLowerCase();
    if (wanted === "") return [];
    if (wanted !== this.#wanted) this.#known = new WeakMap();
    this.#wanted = wanted;
    return entries.filter((entry) => this.#has(entry)).map(({ id }) => id);
  }

  #has(entry: Entry): boolean {
    const known = this.#known.get(entry);
    if (known !== undefined) return known;
    const has = toText(entry).toLowerCase().includes(this.#wanted);
    this.#known.set(entry, has);
    return has;
  }
}

/** The next hit, wrapping around; the newest if there is no current one. */
export function stepHit(
  hits: readonly string[],
  current: string | undefined,
  by: 1 | -1,
): string | undefined {
  const at = current === undefined ? -1 : hits.indexOf(current);
  if (at === -1) return hits.at(-1);
  return hits[(at + by + hits.length) % hits.length];
}

/** Highlights matches, if the browser supports CSS Custom Highlights. */
export function highlightMatches(root: Element | null, words: string): void {
  if (!("highlights" in CSS)) return;
  const wanted = words.trim().toLowerCase();
  if (root === null || wanted === "") {
    CSS.highlights.delete(MARKS);
    return;
  }
  const ranges: Range[] = [];
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null && ranges.length < MAX_MARKS; node = walker.nextNode()) {
    const text = (node.nodeValue ?? "").toLowerCase();
    for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) {
      const range = new Range();
      range.setStart(node, at);
      range.setEnd(node, Math.min(at + wanted.length, node.nodeValue?.length ?? 0));
      ranges.push(range);
    }
  }
  CSS.highlights.set(MARKS, new Highlight(...ranges));
}
