// Keys that do the same wherever one is: scrolling, folding, turning to requests, interrupting, leaving.
import { keptFrom } from "../../client/view.ts";
import { clear, EMPTY_EDITOR, isEmpty } from "../composer/editor.ts";
import { actionOf } from "../keys/table.ts";
import { turnTo } from "./requests.ts";
import { clearFocus, isAtTop, moveFocus, scrollBy, scrollTo, toEnd, turnAllFolds } from "./scroll.ts";
import { isTurnRunning, step, told, without } from "./state.ts";
import type { SessionUi, Step, UiContext } from "./ui-types.ts";

const WHEEL_ROWS = 3;
/** How long the second press counts. */
const ARMED_MS = 3_000;

export function onAnyKey(ui: SessionUi, chord: string, context: UiContext): Step {
  const page = Math.max(1, context.feedHeight - 1);
  switch (actionOf(chord, "any")) {
    case "interrupt":
      return onInterrupt(ui, context);
    case "escape":
      return onEscape(ui, context);
    case "next_request":
      return turnTo(ui, 1);
    case "previous_request":
      return turnTo(ui, -1);
    case "page_up":
      return isAtTop(ui, context) ? earlier(ui) : step(scrollBy(ui, -page, context));
    case "page_down":
      return step(scrollBy(ui, page, context));
    case "top":
      return isAtTop(ui, context) ? earlier(ui) : step(scrollTo(ui, 0, context));
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
      return step(turnAllFolds(ui));
    case "search":
      return step({ ...ui, overlay: { kind: "search", editor: EMPTY_EDITOR, isTyping: true } });
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

/** Ctrl-C: interrupts what runs, or clears what is written; a second one leaves. */
function onInterrupt(ui: SessionUi, { endsWithScreen }: UiContext): Step {
  if (ui.armed?.what === "leave") return step(ui, { kind: "leave", code: endsWithScreen ? 130 : 0 });
  const armed = { what: "leave", until_ms: ui.now_ms + ARMED_MS } as const;
  if (isTurnRunning(ui)) return step({ ...ui, armed }, { kind: "interrupt" });
  if (ui.mode === "chat" && !isEmpty(ui.editor)) return step({ ...ui, armed, editor: clear(ui.editor) });
  return step({ ...ui, armed });
}

/** Esc: closes what is open; with a list below it goes back there, else the second one interrupts. */
function onEscape(ui: SessionUi, { canGoBack, requestFocus }: UiContext): Step {
  if (ui.mode !== "chat" && requestFocus === "modal") {
    return step(told(ui, "info", "this waits for an answer first; Ctrl-C interrupts the turn instead"));
  }
  if (ui.mode !== "chat") return step({ ...without(ui, "focus", "drawn"), mode: "chat" });
  if (ui.feed.focus !== undefined) return step(clearFocus(ui));
  if (ui.feed.anchor !== undefined) return step(toEnd(ui));
  if (canGoBack) {
    if (isEmpty(ui.editor)) return step(ui, { kind: "back" });
    return step(told(ui, "info", "Ctrl-C clears what is written, then Esc goes back to the list"));
  }
  if (!isTurnRunning(ui)) return step(ui);
  if (ui.armed?.what === "interrupt") return step(without(ui, "armed"), { kind: "interrupt" });
  return step({ ...ui, armed: { what: "interrupt", until_ms: ui.now_ms + ARMED_MS } });
}

function earlier(ui: SessionUi): Step {
  if (ui.feed.isLoading) return step(ui);
  const kept_from = keptFrom(ui.view);
  const effect = { kind: "earlier", ...(kept_from === undefined ? {} : { kept_from }) } as const;
  return step({ ...ui, feed: { ...ui.feed, isLoading: true } }, effect);
}
