// What a screen draws of a session: rows of a given width, made of plain text and of our own SGR codes.
import type { Entry } from "../../client/view/types.ts";

/** One row of the screen; never wider than the width it was made for. */
export interface Row {
  /** What is to be read: what a search looks in. */
  text: string;
  /** The same with our own SGR codes, each closed in the row; equal to `text` without colours. */
  ansi: string;
  /** Of the entry that it belongs to. */
  entry: string;
}

/** How rows may look; `Look` of the screens is one. */
export interface RowTheme {
  hasColour: boolean;
  /** The locale is no UTF-8: our own marks are drawn in ASCII, what others wrote in `?` or, to decide upon, `<U+…>`. */
  isAscii?: boolean;
}

export interface FeedOptions {
  width: number;
  theme: RowTheme;
  /** Whether the person unfolded it. Asked for every entry at each `update`, so it must be cheap. */
  isOpen(entry: Entry): boolean;
}

/** The feed as rows. What did not change since the last `update` is not laid out again. */
export interface FeedLayout {
  update(entries: readonly Entry[], options: FeedOptions): void;
  readonly rowCount: number;
  /** Rows `from` to before `to`; what is outside of the feed is left out. */
  slice(from: number, to: number): Row[];
  /** Where the entry begins (its first row with text). */
  rowOf(entryId: string): number | undefined;
  entryAt(row: number): Entry | undefined;
  /**
   * The nearest row after (1) or before (-1) `from` that holds the query; a query without capitals finds both cases.
   * It goes round at the end. Folded entries are searched in what they show.
   */
  find(query: string, from: number, direction: 1 | -1): number | undefined;
}
