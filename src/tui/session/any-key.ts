// Keys that work everywhere: scrolling, folding, opening requests, interrupting, quitting.
import { defined } from "../../base/values.ts";
import { findFirstSeq } from "../../client/view.ts";
import { clear, EMPTY_EDITOR, isEmpty } from "../composer/editor.ts";
import { findAction } from "../keys/table.ts";
import { moveToRequest } from "./requests.ts";
import { clearFocus, isAtTop, moveFocus, scrollBy, scrollTo, toEnd, toggleAllFolds } from "./scroll.ts";
import { isTurnRunning, omit, showNotice, step } from "./state.ts";
import type { SessionUi, Step, UiContext } from "./ui-types.ts";

const WHEEL_ROWS = 3;
/** How long the second press is awaited. */
const ARMED_MS = 3_000;

export function onAnyKey(ui: SessionUi, chord: string, context: UiContext): Step {
  const page = Math.max(1, context.feedHeight - 1);
  switch (findAction(chord, "any")) {
    case "interrupt":
      return onInterrupt(ui, context);
    case "escape":
      return onEscape(ui, context);
    case "next_request":
      return moveToRequest(ui, 1);
    case "previous_request":
      return moveToRequest(ui, -1);
    case "page_up":
      return isAtTop(ui, context) ? loadEarlier(ui) : step(scrollBy(ui, -page, context));
    case "page_down":
      return step(scrollBy(ui, page, context));
    case "top":
      return isAtTop(ui, context) ? loadEarlier(ui) : step(scrollTo(ui, 0, context));
    case "bottom":
      return step(toEnd(ui));
    case "focus_up":
      return step(moveFocus(ui, -1, context));
    case "focus_down":
      return step(moveFocus(ui, 1, context));
    case "wheel_up":
      return step(scrollBy(ui, -WHEEL_ROWS, context));
    case "wheel_down":
      return step(scrollBy(ui, WHEEL_ROWS, context));
    case "fold_all":
      return step(toggleAllFolds(ui));
    case "search":
      return step({ ...ui, overlay: { kind: "search", editor: EMPTY_EDITOR, isTyping: true } });
    case "changes":
      if (context.hasChanges) return step(ui, { kind: "changes" });
      return step(showNotice(ui, "info", "changes are recorded for sessions of the daemon only"));
    case "help":
      return step({ ...ui, overlay: { kind: "help", scroll: 0 } });
    case "suspend":
      return step(ui, { kind: "suspend" });
    case "repaint":
      return step(ui, { kind: "repaint" });
    case "mouse":
      return step(ui, { kind: "mouse" });
    default:
      return step(ui);
  }
}

/** Ctrl-C: interrupts the turn or clears the draft; a second one quits. */
function onInterrupt(ui: SessionUi, { endsWithScreen }: UiContext): Step {
  if (ui.armed?.what === "leave") return step(ui, { kind: "leave", code: endsWithScreen ? 130 : 0 });
  const armed = { what: "leave", until_ms: ui.now_ms + ARMED_MS } as const;
  if (isTurnRunning(ui)) return step({ ...ui, armed }, { kind: "interrupt" });
  if (ui.mode === "chat" && !isEmpty(ui.editor)) return step({ ...ui, armed, editor: clear(ui.editor) });
  return step({ ...ui, armed });
}

/** Esc: closes what is open, then returns to the list; without a list, a second one interrupts. */
function onEscape(ui: SessionUi, { canGoBack, requestFocus }: UiContext): Step {
  if (ui.mode !== "chat" && requestFocus === "modal") {
    return step(showNotice(ui, "info", "answer the request first, or interrupt the turn with Ctrl-C"));
  }
  if (ui.mode !== "chat") {
    const left = ui.focus === undefined ? {} : { left: ui.focus };
    return step({ ...omit(ui, "focus", "drawn", "opened_ms"), ...left, mode: "chat" });
  }
  if (ui.feed.focus !== undefined) return step(clearFocus(ui));
  if (ui.feed.anchor !== undefined) return step(toEnd(ui));
  if (canGoBack) {
    if (isEmpty(ui.editor)) return step(ui, { kind: "back" });
    return step(showNotice(ui, "info", "Ctrl-C clears the draft, then Esc returns to the list"));
  }
  if (!isTurnRunning(ui)) return step(ui);
  if (ui.armed?.what === "interrupt") return step(omit(ui, "armed"), { kind: "interrupt" });
  return step({ ...ui, armed: { what: "interrupt", until_ms: ui.now_ms + ARMED_MS } });
}

function loadEarlier(ui: SessionUi): Step {
  if (ui.feed.isLoading) return step(ui);
  const kept_from = findFirstSeq(ui.view);
  const effect = { kind: "earlier", ...defined({ kept_from }) } as const;
  return step({ ...ui, feed: { ...ui.feed, isLoading: true } }, effect);
}
