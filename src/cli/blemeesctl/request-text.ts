// A request as a person reads it before deciding: all of it, and none of it able to pass for our own words. What
// others wrote stands behind a bar on every row of the screen, also where a long line breaks; the rest is ours.
import { sanitize, sanitizeLine } from "../../base/sanitize.ts";
import type { Choice, Decision, Question, RequestRow } from "../../client/index.ts";

const BAR = "  │ ";
/** The same line goes on. */
const BROKEN = "  ┆ ";
/** So narrow a screen is not wrapped for. */
const MIN_COLUMNS = 20;
/** Of an input that also stands there as a diff, longer texts are only named. */
const MAX_BESIDE_DIFF = 200;

/** The verb that says it. */
export const VERB_OF: Record<Decision, string> = {
  accept: "accept",
  acceptForSession: "accept-session",
  acceptAlways: "always",
  decline: "decline",
  cancel: "cancel",
};

const MEANING: Record<Decision, string> = {
  accept: "this once",
  acceptForSession: "and remember it until the agent ends",
  acceptAlways: "and remember it for good",
  decline: "the agent goes on without it",
  cancel: "decline, and stop the turn",
};

/** `hint` says how to answer from here. */
export function requestLines(row: RequestRow, hint: string, columns: number): string[] {
  const { payload, path } = row;
  const quote = (text: string): string[] => behindBar(text, columns);
  const part = (title: string, text: string | undefined): string[] =>
    text === undefined || text === "" ? [] : [`  ${title}${lineCount(text)}:`, ...quote(text)];
  return [
    `? ${sanitizeLine(row.backend)} asks (${row.request_type}):`,
    ...quote(sanitizeLine(payload.title)),
    `  request ${sanitizeLine(row.request_id)}`,
    `  session ${sanitizeLine(row.session_id)}`,
    ...part("for the sub-agent", path?.join("\n")),
    ...part("because", payload.reason),
    ...part("command", payload.command),
    ...part("in", payload.cwd),
    ...(payload.changes ?? []).flatMap(({ kind, path: file, move_path, diff }) => [
      ...part(`${kind} the file`, file),
      ...part("move it to", move_path),
      ...part("as follows", diff),
    ]),
    ...part("plan", payload.plan),
    ...part(`input of ${sanitizeLine(payload.tool_name ?? "the tool").slice(0, 40)}`, inputText(row)),
    ...part("it also says", entriesText(payload.details)),
    ...(payload.questions ?? []).flatMap((question, at) => questionLines(question, at + 1, part, quote)),
    "  choices:",
    ...payload.choices.flatMap((choice) => choiceLines(choice, row, part)),
    `  ${hint}`,
  ];
}

/** What can be said to this request, for a hint. */
export function verbsFor({ payload }: RequestRow): string {
  return payload.choices.map(({ decision }) => verbFor(decision, payload.questions !== undefined)).join(", ");
}

function verbFor(decision: Decision, hasQuestions: boolean): string {
  return decision === "accept" && hasQuestions ? "answer" : VERB_OF[decision];
}

type Part = (title: string, text: string | undefined) => string[];

function choiceLines(choice: Choice, { payload }: RequestRow, part: Part): string[] {
  const { decision, takes = [], remembers, writes = [] } = choice;
  const verb = verbFor(decision, payload.questions !== undefined);
  const extra = verb === "answer" ? " 1=TEXT 2=TEXT …" : takes.map((name) => EXTRAS[name]).join("");
  const meaning = verb === "answer" ? "the questions by their numbers" : MEANING[decision];
  return [
    `    ${`${verb}${extra}`.padEnd(24)}  ${meaning}`,
    ...part("  from then on", remembers?.join("\n")),
    ...writes.flatMap(({ path, content }) => [
      ...part("  this changes the file", path),
      ...part("  as follows", content),
    ]),
  ];
}

const EXTRAS = { message: " [message…]", updated_input: " [--input JSON]" } as const;

function questionLines(
  question: Question,
  number: number,
  part: Part,
  quote: (text: string) => string[],
): string[] {
  const { options = [], multi_select, allows_other, is_secret, header } = question;
  const how = [
    ...(options.length === 0 ? [] : [multi_select ? "choose some" : "choose one"]),
    ...(options.length > 0 && allows_other ? ["or say it in your own words"] : []),
    ...(is_secret ? ["the answer is kept secret"] : []),
  ];
  return [
    ...part(`question ${number}${how.length === 0 ? "" : ` (${how.join("; ")})`}`, question.question),
    ...(header === undefined ? [] : quote(`[${header}]`)),
    ...options.flatMap(({ label, description }) =>
      quote(`• ${sanitizeLine(label)}${description === undefined ? "" : `: ${description}`}`),
    ),
  ];
}

/** The tool's input but for what is shown already. */
function inputText({ payload }: RequestRow): string | undefined {
  const { input, command, plan, cwd, changes, questions } = payload;
  if (input === undefined || questions !== undefined) return undefined;
  if (typeof input !== "object" || input === null || Array.isArray(input))
    return JSON.stringify(input, undefined, 2);
  const shown = new Set<unknown>([command, plan, cwd]);
  const hasDiff = changes?.every(({ diff }) => diff !== undefined) ?? false;
  const rest = Object.entries(input)
    .filter(([, value]) => !shown.has(value))
    .map(([key, value]) => [key, hasDiff && isLong(value) ? `(${value.length} characters, above)` : value]);
  return entriesText(Object.fromEntries(rest));
}

function isLong(value: unknown): value is string {
  return typeof value === "string" && (value.length > MAX_BESIDE_DIFF || value.includes("\n"));
}

/** Texts as they are, so that line breaks can be read; the rest as JSON. */
function entriesText(entries: Record<string, unknown> | undefined): string | undefined {
  if (entries === undefined) return undefined;
  return Object.entries(entries)
    .map(([key, value]) => `${key}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join("\n");
}

function lineCount(text: string): string {
  const count = text.replace(/\n$/, "").split("\n").length;
  return count > 1 ? ` (${count} lines)` : "";
}

function behindBar(text: string, columns: number): string[] {
  const width = Math.max(MIN_COLUMNS, columns) - BAR.length - 1;
  return sanitize(text)
    .replace(/\n$/, "")
    .split("\n")
    .flatMap((line) => broken(line, width).map((piece, at) => (at === 0 ? BAR : BROKEN) + piece));
}

/** Cut so that no piece can reach the edge of the screen. */
function broken(line: string, width: number): string[] {
  if (!Number.isFinite(width)) return [line];
  const pieces: string[] = [];
  let piece = "";
  let used = 0;
  for (const char of line) {
    const wide = widthOf(char);
    if (used + wide > width) {
      pieces.push(piece);
      piece = "";
      used = 0;
    }
    piece += char;
    used += wide;
  }
  return [...pieces, piece];
}

/** At least what a terminal gives it. */
function widthOf(char: string): number {
  if (char === "\t") return 8;
  return char < "\u007f" ? 1 : 2;
}
