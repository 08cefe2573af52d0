// From one state of a session's screen to the next: what was typed, what came, what became of what was wanted. Pure.
import { insert, isEmpty, moveTo, putText, withText } from "../composer/editor.ts";
import { fillPicker } from "../picker/picker.ts";
import type { Input } from "../screen-types.ts";
import { onChatInput } from "./chat.ts";
import { onChoiceInput } from "./choices.ts";
import { chordOf } from "./chord.ts";
import { onOverlayInput } from "./overlays.ts";
import { onQuestionInput } from "./questions.ts";
import { followRequests } from "./requests.ts";
import { focused, hasQuestions, step, told, without } from "./state.ts";
import type { SessionUi, Step, UiContext, UiEvent } from "./ui-types.ts";

export function reduce(ui: SessionUi, event: UiEvent, context: UiContext): Step {
  switch (event.kind) {
    case "input":
      return onInput(aged(ui, event.at_ms), event.input, context);
    case "view":
      return followRequests(ui, { ...aged(ui, event.at_ms), view: event.view }, context);
    case "tick":
      return step(aged(ui, event.at_ms));
    case "size":
      return step(resized(ui, event));
    case "drawn":
      return step(event.request === undefined ? without(ui, "drawn") : { ...ui, drawn: event.request });
    case "send_failed":
      return step(told(putBack(aged(ui, event.at_ms), event.text), "error", `not sent: ${event.message}`));
    case "respond_failed": {
      const answered = new Set(ui.answered);
      answered.delete(event.request_id);
      return step(told({ ...aged(ui, event.at_ms), answered }, "error", `not answered: ${event.message}`));
    }
    case "whole":
      return step({ ...ui, wholes: new Map(ui.wholes).set(event.row.request_id, event.row) });
    case "told":
      return step(told(aged(ui, event.at_ms), event.level, event.text));
    case "earlier": {
      const feed = { ...ui.feed, isLoading: false };
      const next = { ...aged(ui, event.at_ms), feed };
      return step(event.isMore ? next : told(next, "info", "this is the beginning: nothing earlier is kept"));
    }
    case "cancelled":
      return step(putBack(aged(ui, event.at_ms), event.text));
    case "picker":
      return step(filled(ui, event));
  }
}

/** Who pauses for so long has seen that the request is gone. */
const STARTLED_MS = 1_000;

function onInput(ui: SessionUi, input: Input, context: UiContext): Step {
  if (isStartled(ui, input)) {
    const why = "not taken: the request that you were at is gone; pause, then go on writing";
    return step({ ...told(ui, "warn", why), startled_ms: ui.now_ms });
  }
  const disarmed = disarm(without(ui, "startled_ms"), input);
  const next = dispatch(disarmed, input, context);
  const isSent = next.effects.some(({ kind }) => kind === "send");
  const typed_ms = input.kind === "text" ? ui.now_ms : ui.typed_ms;
  return { ...next, ui: { ...next.ui, typed_ms: isSent ? 0 : typed_ms } };
}

/** The rest of a reason, of a secret, or the Enter behind it must not become a message. */
function isStartled({ startled_ms, now_ms }: SessionUi, input: Input): boolean {
  if (startled_ms === undefined || now_ms - startled_ms >= STARTLED_MS) return false;
  return input.kind !== "key" || input.chord === "enter" || input.chord === "backspace";
}

/** A key takes away what was told before it, but not what went wrong: that may have come between two letters. */
function disarm(ui: SessionUi, input: Input): SessionUi {
  const chord = chordOf(input);
  if (chord === "ctrl-c" || chord === "escape") return ui;
  return ui.notice?.level === "error" ? without(ui, "armed") : without(ui, "armed", "notice");
}

function dispatch(ui: SessionUi, input: Input, context: UiContext): Step {
  if (ui.overlay !== undefined) return onOverlayInput(ui, ui.overlay, input, context);
  const row = ui.mode === "chat" ? undefined : focused(ui);
  if (row === undefined) return onChatInput(ui, input, context);
  return hasQuestions(row)
    ? onQuestionInput(ui, row, input, context)
    : onChoiceInput(ui, row, input, context);
}

/** What has had its time goes. */
function aged(ui: SessionUi, now_ms: number): SessionUi {
  let next: SessionUi = { ...ui, now_ms };
  if (next.notice !== undefined && next.notice.until_ms <= now_ms) next = without(next, "notice");
  if (next.armed !== undefined && next.armed.until_ms <= now_ms) next = without(next, "armed");
  return next;
}

function resized(ui: SessionUi, { size, scale }: Extract<UiEvent, { kind: "size" }>): SessionUi {
  const { anchor } = ui.feed;
  // What can be read of a request may be less than before: it must be drawn again before it can be answered.
  const next = { ...without(ui, "drawn"), size };
  if (anchor === undefined) return next;
  const offset = anchor.offset <= 0 ? anchor.offset : Math.round(anchor.offset * scale);
  return { ...next, feed: { ...ui.feed, anchor: { entry: anchor.entry, offset } } };
}

/** A text that did not arrive comes back in front of what was written since. */
function putBack(ui: SessionUi, text: string): SessionUi {
  const { editor } = ui;
  if (isEmpty(editor)) return { ...ui, editor: withText(editor, text) };
  const before = insert(putText(moveTo(editor, 0), text), "\n");
  return { ...ui, editor: moveTo(before, before.cursor + editor.cursor) };
}

function filled(ui: SessionUi, { key, options, message }: Extract<UiEvent, { kind: "picker" }>): SessionUi {
  if (ui.overlay?.kind !== "picker" || ui.overlay.picker.key !== key) return ui;
  const { picker } = ui.overlay;
  const next = options === undefined ? picker : fillPicker(picker, options);
  return { ...ui, overlay: { kind: "picker", picker: message === undefined ? next : { ...next, message } } };
}
