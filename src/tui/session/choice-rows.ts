// Draws how a request can be answered: choices with their keys, or a question.

import type { CardChoice } from "../../client/view/request-card.ts";
import type { RequestRow } from "../../client/view/types.ts";
import type { Choice, Question } from "../../protocol/requests.ts";
import { type Editor, EMPTY_EDITOR } from "../composer/editor.ts";
import { KEYS } from "../keys/table.ts";
import { drawPart } from "../rows/request-rows.ts";
import { drawRevealed } from "../rows/safe.ts";
import { createPiece, type Line, type Piece, STYLE } from "../rows/style.ts";
import { cutLine, measureLine, wrapHard, wrapWords } from "../rows/wrap.ts";
import type { Look } from "../screen-types.ts";
import { isOpen } from "./questions.ts";
import type { Asked } from "./ui-types.ts";

/** The lines above the text field, and the field if there is one. */
export interface Panel {
  lines: Line[];
  /** Index of the selected line. */
  marked?: number;
  editor?: { editor: Editor; label: string; isSecret: boolean };
  /** What the choices remember and write, if there was no room beside them. */
  notes?: Line[];
}

const NOTE_INDENT = "        ";

/** `most`: available rows. What the choices remember goes to `notes` if it does not fit. */
export function drawChoicePanel(
  all: readonly CardChoice[],
  asked: Asked,
  columns: number,
  look: Look,
  most: number,
): Panel {
  if (asked.reason !== undefined) {
    const { choice, editor } = asked.reason;
    const label = `${choice.decision === "cancel" ? "stop the turn" : "decline"}: reason (optional; Enter sends)`;
    return { lines: [], editor: { editor, label, isSecret: false } };
  }
  const choices = all.map((choice, at) => choiceLines(choice, at, asked.marked === at, columns, look));
  const isLong = choices.flatMap(({ line, notes }) => [line, ...notes]).length > most;
  const blocks = choices.map(({ line, brief, notes }) => (isLong ? [brief] : [line, ...notes]));
  return {
    lines: blocks.flat(),
    marked: blocks.slice(0, asked.marked).flat().length,
    ...(isLong ? { notes: choices.flatMap(({ title, notes }) => addTitle(notes, title)) } : {}),
  };
}

interface ChoiceLines {
  /** Keys and label, and what it remembers if that fits. */
  line: Line;
  /** `line`, cut to one row. */
  brief: Line;
  /** What `line` leaves out. */
  notes: Line[];
  title: string;
}

function choiceLines(
  { choice, label, meaning, notes }: CardChoice,
  at: number,
  isMarked: boolean,
  columns: number,
  look: Look,
): ChoiceLines {
  const head = [
    createPiece(isMarked ? "> " : "  ", STYLE.accent),
    createPiece(`${at < 9 ? at + 1 : " "} ${choiceKey(choice) ?? " "} `, STYLE.accent),
    createPiece(label, isMarked ? STYLE.bold : STYLE.none),
  ];
  const [first, ...others] = notes;
  const written = first?.title === "remembers" ? "" : `, ${first?.title}`;
  // Without a rule of its own, a wider choice says how long it lasts.
  const isWide = choice.decision === "acceptForSession" || choice.decision === "acceptAlways";
  const beside =
    first === undefined
      ? isWide
        ? [createPiece(`: ${meaning}`, STYLE.dim)]
        : []
      : [createPiece(`${written} │ `, STYLE.dim), ...drawRevealed(first.text, STYLE.none, look.isAscii)];
  const line = [...head, ...beside];
  const fits = first?.text.includes("\n") !== true && measureLine(line) <= columns;
  return {
    line: fits ? line : head,
    brief: cutLine(line, columns),
    notes: (fits ? others : notes).flatMap((note) => drawPart(note, columns, look, NOTE_INDENT)),
    title: `${at + 1} ${label}`,
  };
}

function addTitle(lines: readonly Line[], title: string): Line[] {
  return lines.length === 0 ? [] : [[createPiece(`  ${title}:`)], ...lines];
}

/** Only the narrowest choice of a decision, the one without an option, has a letter. */
function choiceKey({ decision, option }: Choice): string | undefined {
  if (option !== undefined) return undefined;
  return KEYS.find(({ action, where }) => where === "choices" && action === decision)?.keys[0];
}

export function drawQuestionPanel(row: RequestRow, asked: Asked, columns: number, look: Look): Panel {
  const questions = row.payload.questions ?? [];
  const question = questions[asked.question];
  if (question === undefined) return { lines: reviewLines(questions, asked, columns, look) };
  const count = questions.length > 1 ? `question ${asked.question + 1} of ${questions.length}` : "question";
  const header = question.header === undefined ? "" : ` · ${question.header}`;
  const lines: Line[] = [
    cutLine(drawRevealed(`${count}${header}`, STYLE.dim, look.isAscii), columns),
    ...question.question.split("\n").flatMap((line) => wrapRevealed(line, "", STYLE.bold, columns, look)),
    ...(question.options ?? []).flatMap((_, at) => optionLines(question, at, asked, columns, look)),
  ];
  const marked = lines.findIndex(([first]) => first?.text === "> ");
  const editor = asked.own ?? (isOpen(question) ? EMPTY_EDITOR : undefined);
  if (question.allows_other && !isOpen(question)) {
    const at = question.options?.length ?? 0;
    lines.push(optionLine(at, asked.option === at, undefined, [createPiece("other answer…")]));
  }
  if (editor === undefined) return { lines, marked: Math.max(0, marked) };
  const isSecret = question.is_secret === true;
  return {
    lines,
    marked: lines.length - 1,
    editor: { editor, label: isSecret ? "answer (hidden)" : "answer", isSecret },
  };
}

function optionLines(question: Question, at: number, asked: Asked, columns: number, look: Look): Line[] {
  const option = question.options?.[at];
  if (option === undefined) return [];
  const isMarked = asked.option === at && asked.own === undefined;
  const isChosen = question.multi_select ? asked.chosen.includes(at) : undefined;
  const style = isMarked ? STYLE.bold : STYLE.none;
  const label = drawRevealed(option.label, style, look.isAscii);
  const first = optionLine(at, isMarked, isChosen, label);
  const lines = wrapHard(first, columns);
  const { description } = option;
  return description === undefined
    ? lines
    : [
        ...lines,
        ...description.split("\n").flatMap((line) => wrapRevealed(line, "      ", STYLE.dim, columns, look)),
      ];
}

function optionLine(at: number, isMarked: boolean, isChosen: boolean | undefined, label: Line): Piece[] {
  const box = isChosen === undefined ? "" : isChosen ? "[x] " : "[ ] ";
  return [
    createPiece(isMarked ? "> " : "  ", STYLE.accent),
    createPiece(at < 9 ? `${at + 1} ` : "  ", STYLE.accent),
    createPiece(box),
    ...label,
  ];
}

function reviewLines(questions: readonly Question[], asked: Asked, columns: number, look: Look): Line[] {
  const answers = questions.flatMap((question) => {
    const answer = [asked.answers[question.id] ?? []].flat();
    const said = question.is_secret ? "********" : answer.join(", ");
    const label = question.header ?? question.question;
    return [
      ...wrapRevealed(label, "", STYLE.dim, columns, look),
      ...said.split("\n").flatMap((line) => wrapRevealed(line, "  ", STYLE.bold, columns, look)),
    ];
  });
  return [
    ...answers,
    [
      createPiece("Enter sends these answers", STYLE.accent),
      createPiece(" · Shift-Tab goes back", STYLE.dim),
    ],
  ];
}

function wrapRevealed(text: string, indent: string, style: string, columns: number, look: Look): Line[] {
  const line = drawRevealed(text, style, look.isAscii);
  return wrapWords(line, Math.max(4, columns - indent.length)).map((one) => [createPiece(indent), ...one]);
}
