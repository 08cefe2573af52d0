// Rows of the session screen: plain text with our own SGR codes.
import type { Entry } from "../../client/view/types.ts";

/** One screen row, never wider than requested. */
export interface Row {
  /** Plain text; what a search looks at. */
  text: string;
  /** The text with SGR codes, reset at the end; equal to `text` without color. */
  ansi: string;
  /** Id of its entry. */
  entry: string;
}

/** Compatible with `Look`. */
export interface RowTheme {
  hasColor: boolean;
  /** The locale is not UTF-8: our marks are ASCII, other text uses `?`, or `<U+…>` in requests. */
  isAscii?: boolean;
}

export interface FeedOptions {
  width: number;
  theme: RowTheme;
  /** Whether it is unfolded. Called for every entry on each `update`, so it must be cheap. */
  isOpen(entry: Entry): boolean;
}

/** The feed as rows. Unchanged entries are not laid out again. */
export interface FeedLayout {
  update(entries: readonly Entry[], options: FeedOptions): void;
  readonly rowCount: number;
  /** Rows `from` (inclusive) to `to` (exclusive), clipped to the feed. */
  slice(from: number, to: number): Row[];
  /** The entry's first row with text. */
  findRow(entryId: string): number | undefined;
  findEntry(row: number): Entry | undefined;
  /**
   * The nearest row after (1) or before (-1) `from` that contains the query; case-insensitive unless the query has capitals.
   * Wraps around. Only visible text of folded entries is searched.
   */
  find(query: string, from: number, direction: 1 | -1): number | undefined;
}
