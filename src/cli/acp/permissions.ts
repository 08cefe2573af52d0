// A request of the ledger as an ACP permission request or form, and the editor's answer. Pure. An answer names one of the
// offered choices and the hash of what was shown; anything else answers nothing, and the request stays pending.
import type {
  ElicitationSchema,
  PermissionOption,
  RequestPermissionRequest,
  ToolCallContent,
} from "@agentclientprotocol/sdk";
import { reveal, revealLine } from "../../base/sanitize.ts";
import { asObject, asString, asStrings, asText } from "../../base/values.ts";
import type { Answer, Question, RequestRow } from "../../client/index.ts";
import { answerFor, type CardChoice, toRequestCard } from "../../client/view/request-card.ts";
import { chooseKind, limitInput, limitLine, toDiffs, toText } from "./tool-updates.ts";

const DECLINES: ReadonlySet<string> = new Set(["decline", "cancel"]);
const KINDS: Readonly<Record<string, PermissionOption["kind"]>> = {
  accept: "allow_once",
  acceptForSession: "allow_always",
  acceptAlways: "allow_always",
  decline: "reject_once",
  cancel: "reject_once",
};

/** How an editor can be asked: by buttons, by a form, or not at all. */
export function chooseWay({ payload }: RequestRow, canFill: boolean): "choices" | "form" | "none" {
  const { questions } = payload;
  if (questions === undefined || questions.length === 0) return "choices";
  if (questions.some(({ is_secret }) => is_secret === true)) return "none";
  if (canFill) return "form";
  const [only, ...others] = questions;
  const isOneOf = (only?.options?.length ?? 0) > 0 && only?.multi_select !== true;
  return isOneOf && others.length === 0 ? "choices" : "none";
}

export function toPermissionRequest(row: RequestRow, sessionId: string): RequestPermissionRequest {
  const { payload, item_id, request_id } = row;
  const { tool_name, command, cwd, changes = [], plan, input } = payload;
  const card = toRequestCard(row);
  const words = [
    ...card.parts.flatMap((part) =>
      part.kind === "quote" && part.form !== "diff" ? [formatQuote(part.title, part.text)] : [],
    ),
    ...card.why.map(({ text }) => text),
    ...(payload.questions ?? []).map(({ question }) => question),
  ];
  const content: ToolCallContent[] = [
    ...toDiffs(changes, cwd),
    ...(words.length === 0 ? [] : [toText(reveal(words.join("\n")))]),
  ];
  const kind = command !== undefined ? "execute" : changes.length > 0 ? "edit" : chooseKind(tool_name ?? "");
  return {
    sessionId,
    toolCall: {
      toolCallId: item_id ?? request_id,
      title: limitLine(revealLine(command ?? payload.title)),
      kind: plan === undefined ? kind : "switch_mode",
      status: "pending",
      ...(input !== undefined && { rawInput: limitInput(input) }),
      content,
    },
    options: listOptions(row),
    _meta: { blemees: { requestId: request_id, shownHash: row.shown_hash } },
  };
}

function formatQuote(title: string | undefined, text: string): string {
  return title === undefined ? text : `${title}: ${text}`;
}

function listOptions(row: RequestRow): PermissionOption[] {
  const [question] = row.payload.questions ?? [];
  const labels = (question?.options ?? []).map(
    ({ label }, at): PermissionOption => ({
      optionId: `answer:${at}`,
      name: limitLine(revealLine(label)),
      kind: "allow_once",
    }),
  );
  const choices = toRequestCard(row).choices.filter(({ isAnswer }) => !isAnswer);
  const kept =
    question === undefined ? choices : choices.filter(({ choice }) => DECLINES.has(choice.decision));
  return [...labels, ...kept.map(toOption)];
}

function toOption(card: CardChoice): PermissionOption {
  const { decision } = card.choice;
  const notes = card.notes.map(({ text }) => text).join("; ");
  return {
    optionId: toOptionId(card.choice),
    name: limitLine(revealLine(notes === "" ? card.label : `${card.label}: ${notes}`)),
    kind: KINDS[decision] ?? "reject_once",
  };
}

function toOptionId({ decision, option }: { decision: string; option?: string | undefined }): string {
  return option === undefined ? decision : `${decision}:${option}`;
}

/** Undefined if the editor gave no answer. */
export function readPermissionAnswer(row: RequestRow, response: unknown): Answer | undefined {
  const { outcome, optionId } = asObject(asObject(response)["outcome"]);
  if (outcome !== "selected") return undefined;
  const id = String(optionId);
  const [question] = row.payload.questions ?? [];
  const label = question?.options?.find((_one, at) => id === `answer:${at}`)?.label;
  if (question !== undefined && label !== undefined) return { answers: { [question.id]: label } };
  const choice = row.payload.choices.find((one) => toOptionId(one) === id);
  if (choice === undefined) return undefined;
  const reason = asText(asObject(asObject(asObject(response)["_meta"])["blemees"])["reason"]);
  const takesMessage = reason !== undefined && choice.takes?.includes("message") === true;
  return { ...answerFor(choice), ...(takesMessage && { message: reason }) };
}

export function toForm({ payload }: RequestRow): { message: string; requestedSchema: ElicitationSchema } {
  const questions = payload.questions ?? [];
  const properties = Object.fromEntries(questions.map((question) => [question.id, toProperty(question)]));
  return {
    message: reveal([...new Set([payload.title, ...questions.map(({ question }) => question)])].join("\n")),
    requestedSchema: { type: "object", properties, required: questions.map(({ id }) => id) },
  };
}

type Property = NonNullable<ElicitationSchema["properties"]>[string];

function toProperty({ question, header, options = [], multi_select, allows_other }: Question): Property {
  const labels = options.map(({ label }) => label);
  const described = options.flatMap(({ label, description }) =>
    description === undefined ? [] : [`${label}: ${description}`],
  );
  const title = revealLine(header ?? question);
  const description = reveal([question, ...described].join("\n"));
  if (labels.length === 0) return { type: "string", title, description };
  if (multi_select === true)
    return { type: "array", title, description, items: { type: "string", enum: labels } };
  // Free text is possible: the options are only suggestions.
  if (allows_other === true)
    return {
      type: "string",
      title,
      description: `${description}\n${labels.map((label) => `• ${label}`).join("\n")}`,
    };
  return { type: "string", title, description, enum: labels };
}

/** Undefined if the editor gave no answer. */
export function readFormAnswer(row: RequestRow, response: unknown): Answer | undefined {
  const { action, content } = asObject(response);
  if (action === "decline") {
    const choice = row.payload.choices.find(({ decision }) => decision === "decline");
    return choice === undefined ? undefined : answerFor(choice);
  }
  if (action !== "accept") return undefined;
  const given = asObject(content);
  const answers = (row.payload.questions ?? []).map(({ id }): [string, string | string[]] => {
    const value = given[id];
    return [id, Array.isArray(value) ? asStrings(value) : (asString(value) ?? "")];
  });
  return answers.every(([, value]) => value.length > 0)
    ? { answers: Object.fromEntries(answers) }
    : undefined;
}
