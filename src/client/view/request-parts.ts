// All that a person sees before deciding, as data, in the order in which it is read: the same for the command line, the
// terminal UI and the browser. What others wrote is in quotes and raw; a face draws it so that it cannot pass for ours.
import { revealLine } from "../../base/sanitize.ts";
import type { Choice, Decision, Question, RequestRow } from "../../protocol/requests.ts";
import { entriesText, inputText, newlineNotes } from "./request-input.ts";

export type RequestPart =
  /** Our own words. `id`: one that others made up, behind them. */
  | { kind: "words"; text: string; id?: string }
  /** What others wrote. */
  | RequestQuote
  /** Something that can be decided; what it remembers and writes are quotes behind it. */
  | { kind: "choice"; choice: Choice; isAnswer: boolean; meaning: string };

export interface RequestQuote {
  kind: "quote";
  text: string;
  /** Our own words above it. */
  title?: string;
  /** A name that others made up, the end of the title. */
  name?: string;
  /** It belongs to the choice before it. */
  isOfChoice?: true;
  /** `line`: newlines and tabs in it are shown as such. */
  form: "text" | "line" | "diff" | "command";
}

const MEANING: Record<Decision, string> = {
  accept: "this once",
  acceptForSession: "and remember it until the agent ends",
  acceptAlways: "and remember it for good",
  decline: "the agent goes on without it",
  cancel: "decline, and stop the turn",
};

export function requestParts(row: RequestRow): RequestPart[] {
  const { payload, path } = row;
  return [
    { kind: "quote", text: payload.title, form: "line" },
    { kind: "words", text: "request", id: row.request_id },
    { kind: "words", text: "session", id: row.session_id },
    ...quote("for the sub-agent", path?.join("\n")),
    ...quote("because", payload.reason),
    ...quote("command", payload.command, { form: "command" }),
    ...quote("in", payload.cwd),
    ...(payload.changes ?? []).flatMap(({ kind, path: file, move_path, diff }) => [
      ...quote(`${kind} the file`, file),
      ...quote("move it to", move_path),
      ...quote("as follows", diff, { form: "diff" }),
    ]),
    ...newlineNotes(payload).map((text) => ({ kind: "words" as const, text })),
    ...quote("plan", payload.plan),
    ...quote("input of", inputText(payload), { name: payload.tool_name ?? "the tool" }),
    ...quote("it also says", entriesText(payload.details)),
    ...(payload.questions ?? []).flatMap(questionParts),
  ];
}

/** What may be decided, in the order of the payload. */
export function choiceParts({ payload }: RequestRow): RequestPart[] {
  return payload.choices.flatMap((choice): RequestPart[] => {
    const { decision, remembers, writes = [] } = choice;
    const isAnswer = decision === "accept" && payload.questions !== undefined;
    const meaning = isAnswer ? "the questions by their numbers" : MEANING[decision];
    const ofChoice = { isOfChoice: true } as const;
    return [
      { kind: "choice", choice, isAnswer, meaning },
      ...quote("from then on", remembers?.join("\n"), ofChoice),
      ...writes.flatMap(({ path, content }) => [
        ...quote("this changes the file", path, ofChoice),
        ...quote("as follows", content, ofChoice),
      ]),
    ];
  });
}

/** Behind a title: how many lines it stands for, when there are several. */
export function lineCount(text: string): string {
  const count = text.replace(/\n$/, "").split("\n").length;
  return count > 1 ? ` (${count} lines)` : "";
}

function quote(
  title: string,
  text: string | undefined,
  more: Partial<Pick<RequestQuote, "form" | "name" | "isOfChoice">> = {},
): RequestQuote[] {
  return text === undefined || text === "" ? [] : [{ kind: "quote", title, text, form: "text", ...more }];
}

function questionParts(question: Question, at: number): RequestPart[] {
  const { options = [], multi_select, allows_other, is_secret, header } = question;
  const how = [
    ...(options.length === 0 ? [] : [multi_select ? "choose some" : "choose one"]),
    ...(options.length > 0 && allows_other ? ["or say it in your own words"] : []),
    ...(is_secret ? ["the answer is kept secret"] : []),
  ];
  return [
    ...quote(`question ${at + 1}${how.length === 0 ? "" : ` (${how.join("; ")})`}`, question.question),
    ...(header === undefined ? [] : [{ kind: "quote" as const, text: `[${header}]`, form: "text" as const }]),
    ...options.map(({ label, description }) => ({
      kind: "quote" as const,
      // On one line, or a label could look like two.
      text: `• ${revealLine(label)}${description === undefined ? "" : `: ${description}`}`,
      form: "text" as const,
    })),
  ];
}
