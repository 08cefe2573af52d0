// Earlier messages, for Up and Down. The draft is kept while browsing.

export interface History {
  /** Oldest first. */
  entries: readonly string[];
  /** Index of the shown entry; absent while the draft is shown. */
  at?: number;
  draft: string;
}

export const EMPTY_HISTORY: History = { entries: [], draft: "" };
const MAX_ENTRIES = 200;

export function remember(history: History, text: string): History {
  const others = history.entries.filter((entry) => entry !== text);
  return { entries: [...others, text].slice(-MAX_ENTRIES), draft: "" };
}

/** Moves to an older (-1) or newer (1) entry; undefined if there is none. */
export function recall(
  history: History,
  by: 1 | -1,
  current: string,
): { history: History; text: string } | undefined {
  const { entries, at, draft } = history;
  if (at === undefined && by > 0) return undefined;
  const next = (at ?? entries.length) + by;
  if (next < 0) return undefined;
  const kept = at === undefined ? current : draft;
  const text = entries[next];
  if (text === undefined) return { history: { entries, draft: "" }, text: kept };
  return { history: { entries, draft: kept, at: next }, text };
}

/** An edited entry becomes the draft. */
export function leaveHistory(history: History): History {
  return history.at === undefined ? history : { entries: history.entries, draft: "" };
}
