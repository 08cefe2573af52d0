// What was sent before, for Up and Down; the draft is put aside while one looks.

export interface History {
  /** Oldest first. */
  entries: readonly string[];
  /** Which one is shown; absent: the draft is. */
  at?: number;
  draft: string;
}

export const EMPTY_HISTORY: History = { entries: [], draft: "" };
const MAX_ENTRIES = 200;

export function remember(history: History, text: string): History {
  const others = history.entries.filter((entry) => entry !== text);
  return { entries: [...others, text].slice(-MAX_ENTRIES), draft: "" };
}

/** One older (-1) or newer (1); undefined when there is none that way. */
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

/** What is shown was changed: it is the draft now. */
export function forgetPlace(history: History): History {
  return history.at === undefined ? history : { entries: history.entries, draft: "" };
}
