// The reducer of the session screen: (state, event) → state and effects. Pure.
import { insert, insertLabel, isEmpty, moveTo, paste, putText, setText } from "../composer/editor.ts";
import { fillPicker } from "../picker/picker.ts";
import type { Input } from "../screen-types.ts";
import { onChatInput } from "./chat.ts";
import { onChoiceInput } from "./choices.ts";
import { toChord } from "./chord.ts";
import { fillCommands, fillFiles, followCompletion } from "./completion.ts";
import { onOverlayInput } from "./overlays.ts";
import { onQuestionInput } from "./questions.ts";
import { followRequests, openNext } from "./requests.ts";
import { showEntry } from "./scroll.ts";
import { getFocused, hasQuestions, omit, showNotice, step } from "./state.ts";
import type { SessionUi, Step, UiContext, UiEvent } from "./ui-types.ts";

export function reduce(ui: SessionUi, event: UiEvent, context: UiContext): Step {
  switch (event.kind) {
    case "input":
      return onInput(advanceTime(ui, event.at_ms), event.input, context);
    case "view":
      return followRequests(ui, { ...advanceTime(ui, event.at_ms), view: event.view }, context);
    case "tick":
      return openNext(advanceTime(ui, event.at_ms), context);
    case "size":
      return step(resize(ui, event));
    case "drawn":
      return step(event.request === undefined ? omit(ui, "drawn") : { ...ui, drawn: event.request });
    case "send_failed":
      return step(
        showNotice(putBack(advanceTime(ui, event.at_ms), event.text), "error", `not sent: ${event.message}`),
      );
    case "respond_failed": {
      const answered = new Set(ui.answered);
      answered.delete(event.request_id);
      return step(
        showNotice({ ...advanceTime(ui, event.at_ms), answered }, "error", `not answered: ${event.message}`),
      );
    }
    case "whole":
      return step({ ...ui, wholes: new Map(ui.wholes).set(event.row.request_id, event.row) });
    case "report":
      return step(showNotice(advanceTime(ui, event.at_ms), event.level, event.text));
    case "earlier": {
      const feed = { ...ui.feed, isLoading: false };
      const next = { ...advanceTime(ui, event.at_ms), feed };
      return step(event.isMore ? next : showNotice(next, "info", "start of the history: no earlier events"));
    }
    case "place":
      return step(showEntry(ui, event.entry));
    case "cancelled":
      return step(putBack(advanceTime(ui, event.at_ms), event.text));
    case "attached":
      return step({ ...ui, editor: insertLabel(ui.editor, event.label) });
    case "not_attached":
      return step({ ...ui, editor: paste(ui.editor, event.text) });
    case "files":
      return step(fillFiles(ui, event));
    case "agent_commands":
      return step(fillCommands(ui, event.commands, context));
    case "picker":
      return step(fillOpenPicker(ui, event));
  }
}

/** After a pause this long, the user has seen that the request is closed. */
const STARTLED_MS = 1_000;

function onInput(ui: SessionUi, input: Input, context: UiContext): Step {
  if (isStartled(ui, input)) {
    const why = "ignored: the request you were answering is closed; pause before you type on";
    return step({ ...showNotice(ui, "warn", why), startled_ms: ui.now_ms });
  }
  const disarmed = disarm(omit(ui, "startled_ms"), input);
  const next = followCompletion(disarmed, dispatch(disarmed, input, context), context);
  // What comes next is not typed into the same.
  const isSent = next.effects.some(({ kind }) => kind === "send" || kind === "respond");
  const typed_ms = input.kind === "text" ? ui.now_ms : ui.typed_ms;
  return { ...next, ui: { ...next.ui, typed_ms: isSent ? 0 : typed_ms } };
}

/** The rest of a reason or secret, or its Enter, must not become a message. */
function isStartled({ startled_ms, now_ms }: SessionUi, input: Input): boolean {
  if (startled_ms === undefined || now_ms - startled_ms >= STARTLED_MS) return false;
  return input.kind !== "key" || input.chord === "enter" || input.chord === "backspace";
}

/** A key clears the notice, except for an error, which may have arrived between two keys. */
function disarm(ui: SessionUi, input: Input): SessionUi {
  const chord = toChord(input);
  if (chord === "ctrl-c" || chord === "escape") return ui;
  return ui.notice?.level === "error" ? omit(ui, "armed") : omit(ui, "armed", "notice");
}

function dispatch(ui: SessionUi, input: Input, context: UiContext): Step {
  if (ui.overlay !== undefined) return onOverlayInput(ui, ui.overlay, input, context);
  const row = ui.mode === "chat" ? undefined : getFocused(ui);
  if (row === undefined) return onChatInput(ui, input, context);
  return hasQuestions(row)
    ? onQuestionInput(ui, row, input, context)
    : onChoiceInput(ui, row, input, context);
}

/** Expires the notice and the armed key. */
function advanceTime(ui: SessionUi, now_ms: number): SessionUi {
  let next: SessionUi = { ...ui, now_ms };
  if (next.notice !== undefined && next.notice.until_ms <= now_ms) next = omit(next, "notice");
  if (next.armed !== undefined && next.armed.until_ms <= now_ms) next = omit(next, "armed");
  return next;
}

function resize(ui: SessionUi, { size, scale }: Extract<UiEvent, { kind: "size" }>): SessionUi {
  const { anchor } = ui.feed;
  // Less of a request may be visible now, so it must be drawn again before it can be answered.
  const next = { ...omit(ui, "drawn"), size };
  if (anchor === undefined) return next;
  const offset = anchor.offset <= 0 ? anchor.offset : Math.round(anchor.offset * scale);
  return { ...next, feed: { ...ui.feed, anchor: { entry: anchor.entry, offset } } };
}

/** Puts an unsent text back in front of the draft. */
function putBack(ui: SessionUi, text: string): SessionUi {
  const { editor } = ui;
  if (isEmpty(editor)) return { ...ui, editor: setText(editor, text) };
  const before = insert(putText(moveTo(editor, 0), text), "\n");
  return { ...ui, editor: moveTo(before, before.cursor + editor.cursor) };
}

function fillOpenPicker(
  ui: SessionUi,
  { key, options, message }: Extract<UiEvent, { kind: "picker" }>,
): SessionUi {
  if (ui.overlay?.kind !== "picker" || ui.overlay.picker.key !== key) return ui;
  const { picker } = ui.overlay;
  const next = options === undefined ? picker : fillPicker(picker, options);
  return { ...ui, overlay: { kind: "picker", picker: message === undefined ? next : { ...next, message } } };
}
