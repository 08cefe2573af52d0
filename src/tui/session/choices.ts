// Keys in `approval`: choosing one of the offered decisions, with a reason if the request takes one. Also for requests
// that want input but ask no question.

import { answerFor } from "../../client/view/request-card.ts";
import type { Answer, RequestRow } from "../../client/view/types.ts";
import type { Choice } from "../../protocol/requests.ts";
import { editWith } from "../composer/edit-keys.ts";
import { EMPTY_EDITOR, expandText, insert } from "../composer/editor.ts";
import { findAction } from "../keys/table.ts";
import type { Input } from "../screen-types.ts";
import { onAnyKey } from "./any-key.ts";
import { toChord } from "./chord.ts";
import { scrollRequest } from "./request-scroll.ts";
import { explainNotYet } from "./requests.ts";
import { getAsked, omit, setAsked, showNotice, step } from "./state.ts";
import type { SessionUi, Step, UiContext } from "./ui-types.ts";

export function onChoiceInput(ui: SessionUi, row: RequestRow, input: Input, context: UiContext): Step {
  const asked = getAsked(ui, row);
  if (asked.reason !== undefined) return onReasonInput(ui, row, input, context);
  if (input.kind === "paste")
    return step(showNotice(ui, "warn", "a paste cannot answer: press one of the keys"));
  const scrolled = scrollRequest(ui, row, input, context);
  if (scrolled !== undefined) return step(scrolled);
  const { choices } = row.payload;
  const chord = toChord(input);
  // A number only selects, and wider choices have no letter, so that no one grants more out of habit.
  const number = /^[1-9]$/.test(chord) ? Number(chord) : 0;
  if (number > 0 && number <= choices.length)
    return step(setAsked(ui, row, { ...asked, marked: number - 1 }));
  const action = findAction(chord, "choices");
  switch (action) {
    case "choice_up":
      return step(setAsked(ui, row, { ...asked, marked: Math.max(0, asked.marked - 1) }));
    case "choice_down":
      return step(setAsked(ui, row, { ...asked, marked: Math.min(choices.length - 1, asked.marked + 1) }));
    case "details":
      return step(setAsked(ui, row, { ...asked, isDetailed: !asked.isDetailed, scroll: 0 }));
    case "take": {
      const marked = choices[asked.marked];
      return marked === undefined ? step(ui) : decide(ui, row, marked, context);
    }
    case "accept":
    case "acceptForSession":
    case "acceptAlways":
    case "decline":
    case "cancel": {
      const at = choices.findIndex(({ decision, option }) => decision === action && option === undefined);
      const choice = choices[at];
      if (choice !== undefined && isWide(choice) && ui.opened_ms !== undefined) {
        // The first letter of a message must not grant more than what is asked now.
        return step(showNotice(setAsked(ui, row, { ...asked, marked: at }), "info", "Enter takes it"));
      }
      if (choice !== undefined) return decide(ui, row, choice, context);
      return step(showNotice(waitAgain(ui), "warn", "this request has no such choice"));
    }
    default:
      if (input.kind === "text") {
        const text = "this is approval, not chat: press one of the keys, or Esc to write";
        return step(showNotice(waitAgain(ui), "info", text));
      }
      return onAnyKey(ui, chord, context);
  }
}

function isWide({ decision }: Choice): boolean {
  return decision === "acceptForSession" || decision === "acceptAlways";
}

/** A key without a meaning here is probably part of a word, whose other letters are keys. */
function waitAgain(ui: SessionUi): SessionUi {
  return ui.opened_ms === undefined ? ui : { ...ui, opened_ms: ui.now_ms };
}

function decide(ui: SessionUi, row: RequestRow, choice: Choice, context: UiContext): Step {
  const why = explainNotYet(ui, row);
  if (why !== undefined) return step(showNotice(ui, "warn", why));
  const { decision, takes } = choice;
  const isRefusal = decision === "decline" || decision === "cancel";
  if (isRefusal && takes?.includes("message")) {
    const asked = getAsked(ui, row);
    return step(setAsked(ui, row, { ...asked, reason: { editor: EMPTY_EDITOR, choice } }));
  }
  const sent = submitAnswer(ui, row, answerFor(choice));
  const canMakeRule = decision === "accept" && context.commands.some(({ name }) => name === "/rule");
  return canMakeRule
    ? { ...sent, ui: showNotice(sent.ui, "info", "answered; /rule makes a rule of it") }
    : sent;
}

function onReasonInput(ui: SessionUi, row: RequestRow, input: Input, context: UiContext): Step {
  const { reason, ...asked } = getAsked(ui, row);
  if (reason === undefined) return step(ui);
  const { editor, choice } = reason;
  const chord = toChord(input);
  if (input.kind === "key" && chord === "escape") return step(setAsked(ui, row, asked));
  if (input.kind === "key" && chord === "enter") {
    const why = explainNotYet(ui, row);
    if (why !== undefined) return step(showNotice(ui, "warn", why));
    const message = expandText(editor).trim();
    return submitAnswer(ui, row, { ...answerFor(choice), ...(message === "" ? {} : { message }) });
  }
  const isBreak = input.kind === "key" && findAction(chord, "text") === "newline";
  const next = isBreak ? insert(editor, "\n") : editWith(editor, input);
  if (next === undefined) return onAnyKey(ui, chord, context);
  return step(setAsked(ui, row, { ...asked, reason: { editor: next, choice } }));
}

/** Sends the answer and returns to chat, until the next request opens. */
export function submitAnswer(ui: SessionUi, row: RequestRow, answer: Answer): Step {
  const left = omit(ui, "focus", "drawn", "notice");
  const next: SessionUi = { ...left, mode: "chat", answered: new Set(ui.answered).add(row.request_id) };
  return step(next, { kind: "respond", row, answer });
}
