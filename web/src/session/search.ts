// Finding words in the feed. Pure but for the marks, which are the browser's own and touch no element.
import type { Entry } from "../../../src/client/view/types.ts";
import { textOf } from "./items.ts";

const MARKS = "search";
const MAX_MARKS = 500;

/** Looks into each entry once for the same words: while a session streams it is asked again with every drawing. */
export class EntryFinder {
  #wanted = "";
  #known = new WeakMap<Entry, boolean>();

  /** The ids of the entries that have it, oldest first; upper and lower case are the same. */
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
    const has = textOf(entry).toLowerCase().includes(this.#wanted);
    this.#known.set(entry, has);
    return has;
  }
}

/** The next hit from here, around the end; the newest one when there is no "here". */
export function stepHit(
  hits: readonly string[],
  current: string | undefined,
  by: 1 | -1,
): string | undefined {
  const at = current === undefined ? -1 : hits.indexOf(current);
  if (at === -1) return hits.at(-1);
  return hits[(at + by + hits.length) % hits.length];
}

/** Marks the words in what is drawn, where the browser can (CSS Custom Highlight). */
export function markWords(root: Element | null, words: string): void {
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
