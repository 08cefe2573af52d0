// Scroll position of the feed. While scrolled up, the top row is anchored to its entry, so that nothing moves when events
// arrive, entries above unfold or the width changes.
import type { FeedLayout } from "../rows/types.ts";
import { isFoldable, isUnfolded } from "./state.ts";
import type { FeedState, SessionUi, UiContext } from "./ui-types.ts";

const ROWS_ABOVE = 2;

/** The top row. */
export function findTopRow({ anchor }: FeedState, feed: FeedLayout, height: number): number {
  const last = Math.max(0, feed.rowCount - height);
  if (anchor === undefined) return last;
  const start = feed.findRow(anchor.entry);
  return start === undefined ? 0 : Math.min(last, Math.max(0, start + anchor.offset));
}

export function scrollBy(ui: SessionUi, by: number, { feed, feedHeight }: UiContext): SessionUi {
  return scrollTo(ui, findTopRow(ui.feed, feed, feedHeight) + by, { feed, feedHeight });
}

export function scrollTo(
  ui: SessionUi,
  row: number,
  { feed, feedHeight }: Pick<UiContext, "feed" | "feedHeight">,
): SessionUi {
  const last = feed.rowCount - feedHeight;
  if (row >= last) return toEnd(ui);
  const top = Math.max(0, row);
  const entry = feed.findEntry(top);
  if (entry === undefined) return ui;
  const seen = ui.feed.anchor === undefined ? entryCount(ui) : ui.feed.seen;
  const anchor = { entry: entry.id, offset: top - (feed.findRow(entry.id) ?? top) };
  return { ...ui, feed: { ...ui.feed, anchor, seen } };
}

export function toEnd(ui: SessionUi): SessionUi {
  const { anchor: _, ...feed } = ui.feed;
  return { ...ui, feed };
}

export function isAtTop({ feed: state }: SessionUi, { feed, feedHeight }: UiContext): boolean {
  return findTopRow(state, feed, feedHeight) === 0;
}

/** Entries that arrived since the user scrolled up. */
export function countNewEntries(ui: SessionUi): number {
  return ui.feed.anchor === undefined ? 0 : Math.max(0, entryCount(ui) - ui.feed.seen);
}

/** Scrolls as little as needed to show the row. */
export function reveal(ui: SessionUi, row: number, context: UiContext): SessionUi {
  const { feed, feedHeight } = context;
  const top = findTopRow(ui.feed, feed, feedHeight);
  if (row >= top && row < top + feedHeight) return ui;
  return scrollTo(ui, row - Math.floor(feedHeight / 3), context);
}

/** Selects the next foldable entry, starting with the lowest visible one. */
export function moveFocus(ui: SessionUi, by: 1 | -1, context: UiContext): SessionUi {
  const { feed, feedHeight } = context;
  const entries = ui.view.entries.filter(isFoldable);
  const at = entries.findIndex(({ id }) => id === ui.feed.focus);
  const bottom = findTopRow(ui.feed, feed, feedHeight) + feedHeight;
  const lowest = entries.findLastIndex(({ id }) => (feed.findRow(id) ?? bottom) < bottom);
  const next = entries[at < 0 ? lowest : at + by];
  if (next === undefined) return ui;
  const row = feed.findRow(next.id);
  const marked = { ...ui, feed: { ...ui.feed, focus: next.id } };
  return row === undefined ? marked : reveal(marked, row, context);
}

/** At the top, below what came before it. */
export function showEntry(ui: SessionUi, id: string): SessionUi {
  const entry = ui.view.entries.find((one) => one.id === id);
  if (entry === undefined) return ui;
  const isFolded = isFoldable(entry) && !isUnfolded(ui, entry);
  const turned = isFolded ? new Set([...ui.feed.turned, id]) : ui.feed.turned;
  const anchor = { entry: id, offset: -ROWS_ABOVE };
  return { ...ui, feed: { ...ui.feed, anchor, turned, focus: id, seen: entryCount(ui) } };
}

export function clearFocus(ui: SessionUi): SessionUi {
  const { focus: _, ...feed } = ui.feed;
  return { ...ui, feed };
}

export function toggleFold(ui: SessionUi, context: UiContext): SessionUi {
  const { focus } = ui.feed;
  const entry = ui.view.entries.find(({ id }) => id === focus);
  if (entry === undefined) return moveFocus(ui, 1, context);
  const turned = new Set(ui.feed.turned);
  if (!turned.delete(entry.id)) turned.add(entry.id);
  // The selected entry keeps its place on the screen.
  const { feed, feedHeight } = context;
  const kept = scrollTo(ui, findTopRow(ui.feed, feed, feedHeight), context);
  const isOpening = !isUnfolded(ui, entry);
  return { ...kept, feed: { ...(isOpening ? kept.feed : ui.feed), turned } };
}

export function toggleAllFolds(ui: SessionUi): SessionUi {
  return { ...ui, feed: { ...ui.feed, isAllOpen: !ui.feed.isAllOpen, turned: new Set() } };
}

function entryCount({ view }: SessionUi): number {
  return view.dropped + view.entries.length;
}
