// Entries of a feed for tests, as the view makes them.
import type { Entry } from "../../../src/client/view/types.ts";
import type { FeedLayout, Row, RowTheme } from "../../../src/tui/rows/index.ts";
import { createFeedLayout } from "../../../src/tui/rows/index.ts";

type Kind<K extends Entry["kind"]> = Extract<Entry, { kind: K }>;

const BASE = { id: "e1", seq: 1, depth: 0 };

export function text(said: string, fields: Partial<Kind<"text">> = {}): Entry {
  return { ...BASE, kind: "text", text: said, isOpen: false, ...fields };
}

export function user(said: string, fields: Partial<Kind<"user">> = {}): Entry {
  return { ...BASE, kind: "user", text: said, ...fields };
}

export function thinking(said: string, fields: Partial<Kind<"thinking">> = {}): Entry {
  return { ...BASE, kind: "thinking", text: said, isOpen: false, ...fields };
}

export function tool(fields: Partial<Kind<"tool">> = {}): Entry {
  const call = { tool_use_id: "t1", name: "Bash", title: "npm test", input: { command: "npm test" } };
  return { ...BASE, kind: "tool", status: "done", ...call, ...fields };
}

export interface Drawn {
  width?: number;
  isOpen?: boolean;
  theme?: RowTheme;
}

export function drawn(entries: readonly Entry[], how: Drawn = {}): FeedLayout {
  const feed = createFeedLayout();
  draw(feed, entries, how);
  return feed;
}

export function draw(feed: FeedLayout, entries: readonly Entry[], how: Drawn = {}): void {
  const { width = 60, isOpen = false, theme = { hasColor: false } } = how;
  feed.update(entries, { width, theme, isOpen: () => isOpen });
}

export function rowsOf(entries: readonly Entry[], how: Drawn = {}): Row[] {
  const feed = drawn(entries, how);
  return feed.slice(0, feed.rowCount);
}

export function textOf(entries: readonly Entry[], how: Drawn = {}): string {
  return rowsOf(entries, how)
    .map((row) => row.text.trimEnd())
    .join("\n");
}
