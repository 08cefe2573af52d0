// Scrolling what a request says: all of it can be read before it is decided.
import type { RequestRow } from "../../client/view/types.ts";
import type { Input } from "../screen-types.ts";
import { askedOf, withAsked } from "./state.ts";
import type { SessionUi, UiContext } from "./ui-types.ts";

const LINES: Readonly<Record<string, number>> = {
  pageup: -8,
  pagedown: 8,
  "shift-up": -1,
  "shift-down": 1,
  "ctrl-u": -4,
  "ctrl-d": 4,
  wheelup: -3,
  wheeldown: 3,
};

/** undefined: the key is none for this, or all is on the screen. */
export function scrollRequest(
  ui: SessionUi,
  row: RequestRow,
  input: Input,
  { requestScroll }: UiContext,
): SessionUi | undefined {
  const by = input.kind === "key" ? LINES[input.chord] : undefined;
  if (by === undefined || requestScroll === 0) return undefined;
  const asked = askedOf(ui, row);
  const scroll = Math.max(0, Math.min(requestScroll, asked.scroll + by));
  return withAsked(ui, row, { ...asked, scroll });
}
