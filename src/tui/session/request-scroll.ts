// Scrolls a request, so that all of it can be read before deciding.
import type { RequestRow } from "../../client/view/types.ts";
import type { Input } from "../screen-types.ts";
import { getAsked, setAsked } from "./state.ts";
import type { SessionUi, UiContext } from "./ui-types.ts";

const ROWS: Readonly<Record<string, number>> = {
  pageup: Number.NEGATIVE_INFINITY,
  pagedown: Number.POSITIVE_INFINITY,
  "shift-up": -1,
  "shift-down": 1,
  "ctrl-u": -4,
  "ctrl-d": 4,
  wheelup: -3,
  wheeldown: 3,
};

/** Returns undefined if the key does not scroll or everything is visible. */
export function scrollRequest(
  ui: SessionUi,
  row: RequestRow,
  input: Input,
  { requestScroll, requestHeight }: UiContext,
): SessionUi | undefined {
  const wanted = input.kind === "key" ? ROWS[input.chord] : undefined;
  if (wanted === undefined || requestScroll === 0) return undefined;
  const asked = getAsked(ui, row);
  // At most one page, so that no row is skipped.
  const most = Math.max(1, requestHeight - 1);
  const by = Math.max(-most, Math.min(most, wanted));
  const scroll = Math.max(0, Math.min(requestScroll, asked.scroll + by));
  return setAsked(ui, row, { ...asked, scroll });
}
