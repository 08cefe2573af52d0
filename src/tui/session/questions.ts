// Keys in `input`: the questions of a request in turn, answered by option or free text, then a review before they are
// sent.

import type { RequestRow } from "../../client/view/types.ts";
import type { Question } from "../../protocol/requests.ts";
import { editWith } from "../composer/edit-keys.ts";
import { type Editor, EMPTY_EDITOR, expandText, insert } from "../composer/editor.ts";
import { findAction } from "../keys/table.ts";
import type { Input } from "../screen-types.ts";
import { onAnyKey } from "./any-key.ts";
import { submitAnswer } from "./choices.ts";
import { toChord } from "./chord.ts";
import { scrollRequest } from "./request-scroll.ts";
import { explainNotYet } from "./requests.ts";
import { getAsked, setAsked, showNotice, step } from "./state.ts";
import type { Asked, SessionUi, Step, UiContext } from "./ui-types.ts";

export function onQuestionInput(ui: SessionUi, row: RequestRow, input: Input, context: UiContext): Step {
  const asked = getAsked(ui, row);
  const question = row.payload.questions?.[asked.question];
  const scrolled = scrollRequest(ui, row, input, context);
  if (scrolled !== undefined) return step(scrolled);
  const action = input.kind === "key" ? findAction(input.chord, "question") : undefined;
  if (action === "details")
    return step(setAsked(ui, row, { ...asked, isDetailed: !asked.isDetailed, scroll: 0 }));
  if (action === "refuse") return refuse(ui, row);
  if (action === "question_back") return step(setAsked(ui, row, toQuestion(asked, row, asked.question - 1)));
  if (question === undefined) return onReview(ui, row, input, context);
  const own = asked.own ?? (isOpen(question) ? EMPTY_EDITOR : undefined);
  if (own !== undefined) return onOwnWords(ui, row, question, own, input, context);
  return onOptions(ui, row, question, input, context);
}

/** No options: free text only. */
export function isOpen({ options = [] }: Question): boolean {
  return options.length === 0;
}

/** The options, plus free text if allowed. */
function optionCount({ options = [], allows_other }: Question): number {
  return options.length + (allows_other ? 1 : 0);
}

function onOptions(
  ui: SessionUi,
  row: RequestRow,
  question: Question,
  input: Input,
  context: UiContext,
): Step {
  const asked = getAsked(ui, row);
  if (input.kind === "paste") return step(showNotice(ui, "warn", "a paste cannot answer: choose an option"));
  const count = optionCount(question);
  const chord = toChord(input);
  const put = (next: Partial<Asked>): Step => step(setAsked(ui, row, { ...asked, ...next }));
  const number = /^[1-9]$/.test(chord) ? Number(chord) - 1 : undefined;
  if (number !== undefined && number < count) return pick(ui, row, question, number);
  switch (findAction(chord, "question")) {
    case "option_up":
      return put({ option: (asked.option + count - 1) % count });
    case "option_down":
      return put({ option: (asked.option + 1) % count });
    case "toggle":
      return pick(ui, row, question, asked.option);
    case "answer":
      return question.multi_select ? takeChosen(ui, row, question) : pick(ui, row, question, asked.option);
    default:
      if (input.kind === "text") {
        return step(showNotice(ui, "info", "this is input, not chat: choose by number, or Esc to write"));
      }
      return onAnyKey(ui, chord, context);
  }
}

/** Takes an option by index, or toggles it if several can be chosen. */
function pick(ui: SessionUi, row: RequestRow, question: Question, at: number): Step {
  const why = explainNotYet(ui, row);
  if (why !== undefined) return step(showNotice(ui, "warn", why));
  const asked = { ...getAsked(ui, row), option: at };
  const option = question.options?.[at];
  if (option === undefined) return step(setAsked(ui, row, { ...asked, own: EMPTY_EDITOR }));
  if (!question.multi_select) return take(ui, row, asked, question, option.label);
  const chosen = asked.chosen.includes(at)
    ? asked.chosen.filter((one) => one !== at)
    : [...asked.chosen, at].sort((one, other) => one - other);
  return step(setAsked(ui, row, { ...asked, chosen }));
}

function takeChosen(ui: SessionUi, row: RequestRow, question: Question): Step {
  const asked = getAsked(ui, row);
  if (question.options?.[asked.option] === undefined && question.allows_other) {
    return pick(ui, row, question, asked.option);
  }
  if (asked.chosen.length === 0) return step(showNotice(ui, "info", "choose with Space or a number first"));
  const why = explainNotYet(ui, row);
  if (why !== undefined) return step(showNotice(ui, "warn", why));
  return take(ui, row, asked, question, labels(question, asked.chosen));
}

function onOwnWords(
  ui: SessionUi,
  row: RequestRow,
  question: Question,
  own: Editor,
  input: Input,
  context: UiContext,
): Step {
  const { own: _, ...asked } = getAsked(ui, row);
  const chord = toChord(input);
  const isKey = input.kind === "key";
  if (isKey && chord === "escape" && !isOpen(question)) return step(setAsked(ui, row, asked));
  if (isKey && chord === "enter") {
    const why = explainNotYet(ui, row);
    if (why !== undefined) return step(showNotice(ui, "warn", why));
    const text = expandText(own);
    if (text.trim() === "") return step(showNotice(ui, "info", "type an answer first; Ctrl-X declines"));
    const chosen = labels(question, asked.chosen);
    return take(ui, row, asked, question, question.multi_select ? [...chosen, text] : text);
  }
  const isBreak = isKey && !question.is_secret && findAction(chord, "text") === "newline";
  const next = isBreak ? insert(own, "\n") : editWith(own, input, question.is_secret === true);
  if (next === undefined) return onAnyKey(ui, chord, context);
  return step(setAsked(ui, row, { ...asked, own: next }));
}

function onReview(ui: SessionUi, row: RequestRow, input: Input, context: UiContext): Step {
  const chord = toChord(input);
  if (input.kind === "key" && chord === "enter") {
    const why = explainNotYet(ui, row);
    if (why !== undefined) return step(showNotice(ui, "warn", why));
    return submitAnswer(ui, row, { answers: { ...getAsked(ui, row).answers } });
  }
  if (input.kind !== "key")
    return step(showNotice(ui, "info", "Enter sends the answers, Shift-Tab goes back"));
  return onAnyKey(ui, chord, context);
}

function refuse(ui: SessionUi, row: RequestRow): Step {
  const why = explainNotYet(ui, row);
  if (why !== undefined) return step(showNotice(ui, "warn", why));
  const choice = ["decline", "cancel"].find((one) =>
    row.payload.choices.some(({ decision }) => decision === one),
  );
  if (choice !== "decline" && choice !== "cancel") {
    return step(showNotice(ui, "warn", "this request cannot be declined"));
  }
  return submitAnswer(ui, row, { decision: choice });
}

/** Records the answer. A single question is sent at once; several are reviewed first. */
function take(
  ui: SessionUi,
  row: RequestRow,
  asked: Asked,
  question: Question,
  answer: string | string[],
): Step {
  const answers = { ...asked.answers, [question.id]: answer };
  if (row.payload.questions?.length === 1) return submitAnswer(ui, row, { answers });
  return step(setAsked(ui, row, toQuestion({ ...asked, answers }, row, asked.question + 1)));
}

/** Returns to a question in its last state. */
function toQuestion(asked: Asked, { payload: { questions = [] } }: RequestRow, at: number): Asked {
  const { own: _, ...rest } = asked;
  const next = Math.max(0, Math.min(questions.length, at));
  const question = questions[next];
  const before = question === undefined ? [] : [asked.answers[question.id] ?? []].flat();
  const options = question?.options ?? [];
  const chosen = options.flatMap(({ label }, index) => (before.includes(label) ? [index] : []));
  const own = before.find((text) => !options.some(({ label }) => label === text));
  const written = own !== undefined && question !== undefined && isOpen(question) ? own : undefined;
  return {
    ...rest,
    question: next,
    option: chosen[0] ?? 0,
    chosen: question?.multi_select ? chosen : [],
    scroll: 0,
    ...(written === undefined ? {} : { own: insert(EMPTY_EDITOR, written) }),
  };
}

function labels({ options = [] }: Question, chosen: readonly number[]): string[] {
  return chosen.flatMap((at) => options[at]?.label ?? []);
}
