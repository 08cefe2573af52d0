// A request as a card, as data: what is asked, why, and the choices. Drawn by the CLI, the terminal UI and the dashboard.
// Quotes hold untrusted text; screens draw them so that they cannot pass for our own. Ids, JSON and everything else the
// agent sent are in `toRequestDetails`, collapsed at first.

import { revealLine } from "../../base/sanitize.ts";
import { defined } from "../../base/values.ts";
import type { Answer, Choice, Decision, FileChange, Question, RequestRow } from "../../protocol/requests.ts";
import { formatAnswerer } from "./answerer.ts";
import { type Asker, type AskingSession, describeAsker } from "./asker.ts";
import { getChangeLabel, getChangeVerb } from "./format.ts";
import { splitDiff } from "./request-diff.ts";
import { formatInput, getReason, listNewlineNotes } from "./request-input.ts";

export interface RequestCard {
  who: Asker;
  /** Others that ask for exactly the same (inbox.ts). */
  others: Asker[];
  /** Our text after the names: "asks to run a command"; with others "ask to run a command". */
  asks: string;
  /** The subject in full, except for unchanged diff lines. */
  parts: RequestPart[];
  /** Why, in the agent's words. */
  why: RequestQuote[];
  questions: RequestPart[];
  choices: CardChoice[];
}

export type RequestPart =
  /** Our own text. `id`: an untrusted name after it. */
  { kind: "words"; text: string; id?: string } | RequestQuote;

/** Untrusted text. */
export interface RequestQuote {
  kind: "quote";
  text: string;
  /** Our own text before it. */
  title?: string;
  /** `line`: newlines and tabs are shown as escapes. */
  form: "text" | "line" | "diff" | "command";
}

export interface CardChoice {
  choice: Choice;
  /** Accepting requires answers to the questions. */
  isAnswer: boolean;
  label: string;
  meaning: string;
  /** What the agent will remember and write. */
  notes: RequestQuote[];
}

const LABELS: Record<Decision, string> = {
  accept: "Accept once",
  acceptForSession: "Accept for this session",
  acceptAlways: "Accept always",
  decline: "Decline",
  cancel: "Decline and stop the turn",
};
const MEANINGS: Record<Decision, string> = {
  accept: "this once",
  acceptForSession: "do not ask again until the agent ends",
  acceptAlways: "do not ask again",
  decline: "the agent continues without it",
  cancel: "the turn ends",
};

export function toRequestCard(row: RequestRow, session?: AskingSession): RequestCard {
  const { payload, path } = row;
  const { command, changes = [], plan, questions } = payload;
  return {
    who: describeAsker(row.backend, session),
    others: [],
    asks: describeRequest(row),
    parts: [
      ...quote("sub-agent", path?.join("\n")),
      ...(isTitleShown(row) ? [{ kind: "quote" as const, text: payload.title, form: "line" as const }] : []),
      ...quote(undefined, command, "command"),
      ...quote(payload.cwd_may_differ === true ? "shell started in" : "in", payload.cwd),
      ...changes.flatMap(changeParts),
      ...listNewlineNotes(payload).map((text) => ({ kind: "words" as const, text })),
      ...quote(undefined, plan),
      ...quote("input", formatInput(payload)),
    ],
    why: quote("reason", getReason(payload)),
    questions: (questions ?? []).flatMap(questionParts),
    choices: payload.choices.map((choice) => cardChoice(choice, row)),
  };
}

/** What the card omits: ids, unchanged diff lines, and everything the agent sent, as JSON. */
export function toRequestDetails(row: RequestRow): RequestPart[] {
  const { payload, thread_id, turn_id, item_id } = row;
  const ids = {
    request: row.request_id,
    session: row.session_id,
    agent: row.backend,
    thread: thread_id,
    turn: turn_id,
    item: item_id,
    hash: row.shown_hash,
    "answered by": formatAnswerer(row, { isFull: true }),
  };
  const cut = (payload.changes ?? []).filter((change) => diffParts(change).length > 1);
  return [
    ...Object.entries(ids).flatMap(([text, id]) =>
      id === undefined ? [] : [{ kind: "words" as const, text, id }],
    ),
    ...cut.flatMap(({ path, diff }) => [...quote("all lines of", path), ...quote(undefined, diff, "diff")]),
    ...quote("as JSON", JSON.stringify(payload, undefined, 2)),
  ];
}

/** The answer that takes this choice. */
export function answerFor({ decision, option }: Choice): Extract<Answer, { decision: Decision }> {
  return { decision, ...defined({ option }) };
}

export function findChoice({ payload }: RequestRow, answer: Answer): Choice | undefined {
  const { decision, option } = "decision" in answer ? answer : { decision: "accept", option: undefined };
  return payload.choices.find((choice) => choice.decision === decision && choice.option === option);
}

function describeRequest({ request_type, payload }: RequestRow): string {
  const { changes = [], questions = [] } = payload;
  const [only, ...others] = changes;
  switch (request_type) {
    case "command":
      return "asks to run a command";
    case "file_change":
      if (only === undefined) return "asks to change files";
      if (others.length > 0) return `asks to change ${changes.length} files`;
      return `asks to ${getChangeVerb(only)} a file`;
    case "permissions":
      return "asks for more permissions";
    case "plan":
      return "asks to carry out a plan";
    case "budget":
      return "has used up its budget";
    case "user_input":
    case "elicitation":
      return questions.length > 1 ? `asks ${questions.length} questions` : "asks a question";
    default:
      return "asks to use a tool";
  }
}

/** Omits a title that only repeats the tool and what is shown in full. */
function isTitleShown({ payload }: RequestRow): boolean {
  const { title, tool_name, command, changes = [], plan, questions = [] } = payload;
  if (plan !== undefined || questions.length > 0) return false;
  const isShown = command !== undefined || changes.length > 0;
  return !isShown || tool_name === undefined || !title.startsWith(`${tool_name}: `);
}

function changeParts(change: FileChange): RequestPart[] {
  return [
    ...quote(getChangeLabel(change), change.path),
    ...quote("to", change.move_path),
    ...diffParts(change),
  ];
}

function diffParts(change: FileChange): RequestPart[] {
  return splitDiff(change).flatMap(({ isNear, lines }): RequestPart[] =>
    isNear
      ? quote(undefined, lines.join("\n"), "diff")
      : [{ kind: "words", text: `(${lines.length} unchanged lines; see Details)` }],
  );
}

function cardChoice(choice: Choice, { payload }: RequestRow): CardChoice {
  const { decision, remembers, writes = [] } = choice;
  const isAnswer = decision === "accept" && payload.questions !== undefined;
  return {
    choice,
    isAnswer,
    label: isAnswer ? "Answer" : (choice.label ?? LABELS[decision]),
    meaning: isAnswer ? "the questions by number" : (choice.meaning ?? MEANINGS[decision]),
    notes: [
      ...quote("remembers", remembers?.join("\n")),
      ...writes.flatMap(({ path, content }) => [
        ...quote(content === payload.plan ? "writes the plan to" : "writes", path),
        ...quote(undefined, content === payload.plan ? undefined : content),
      ]),
    ],
  };
}

function quote(
  title: string | undefined,
  text: string | undefined,
  form: RequestQuote["form"] = "text",
): RequestQuote[] {
  return text === undefined || text === "" ? [] : [{ kind: "quote", ...defined({ title }), text, form }];
}

function questionParts(question: Question, at: number): RequestPart[] {
  const { options = [], multi_select, allows_other, is_secret, header } = question;
  const how = [
    ...(options.length === 0 ? [] : [multi_select ? "choose any" : "choose one"]),
    ...(options.length > 0 && allows_other ? ["or type your own answer"] : []),
    ...(is_secret ? ["the answer is not shown"] : []),
  ];
  return [
    ...quote(`question ${at + 1}${how.length === 0 ? "" : ` (${how.join("; ")})`}`, question.question),
    ...quote(undefined, header === undefined ? undefined : `[${header}]`),
    ...options.map(({ label, description }) => ({
      kind: "quote" as const,
      // On one line, so that a label cannot look like two.
      text: `• ${revealLine(label)}${description === undefined ? "" : `: ${description}`}`,
      form: "text" as const,
    })),
  ];
}
