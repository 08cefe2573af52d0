// `can_use_tool` → what a person is asked, and the answer → what claude is told. Pure. Which requests are open is
// pending.ts.
import { join } from "node:path";
import * as z from "zod";
import { isObject, type JsonObject } from "../../base/json.ts";
import { changesText } from "../../protocol/change-words.ts";
import type { Answer, Choice, Question, RequestPayload, RequestType } from "../../protocol/requests.ts";
import { titleOf } from "../request-title.ts";
import type { Ask } from "../types.ts";
import { toFileChange } from "./changes.ts";
import type { ControlRequest } from "./control.ts";
import { optional, stringOf } from "./state.ts";
import { type Grant, grantsOf, readSuggestions, type SettingsFiles } from "./suggestions.ts";

/** What was asked, with what the answer to claude is made from. */
export interface Asked {
  ask: Ask;
  input: JsonObject;
  grants: Grant[];
}

/** Where claude works and keeps its things. */
export interface Place {
  cwd: string;
  configDir: string;
  settings: SettingsFiles;
  /** Whether there is a file now: writing it is another thing then. */
  exists(path: string): boolean;
}

const DECLINED = "The user declined this.";

/**
 * Undefined: this is no request that a person could decide. `path`: the sub-agents that ask; `plan`: what a request to
 * leave plan mode is about, where it does not say so itself.
 */
export function toAsked(
  request: ControlRequest,
  place: Place,
  { path, plan }: { path?: string[] | undefined; plan?: string | undefined } = {},
): Asked | undefined {
  const { tool_name, input, tool_use_id, subtype: _subtype, ...details } = request.body;
  if (typeof tool_name !== "string" || !isObject(input)) return undefined;
  const suggestions = readSuggestions(details["permission_suggestions"]);
  const grants = grantsOf(suggestions, { tool: tool_name, input }, place.settings);
  const { request_type, title, choices, ...shown } = describe(tool_name, input, place, plan);
  const payload: RequestPayload = {
    title: titleOf(`${title?.name ?? tool_name}: ${title?.text ?? textOf(input, details)}`),
    ...optional("reason", stringOf(details["decision_reason"]) ?? stringOf(details["description"])),
    ...shown,
    tool_name,
    input,
    choices: choices ?? [
      { decision: "accept", takes: ["updated_input"] },
      ...grants.map(({ choice }) => choice),
      ...REFUSALS,
    ],
    ...(Object.keys(details).length > 0 ? { details } : {}),
  };
  const native_id = request.request_id;
  const ask: Ask = {
    native_id,
    request_type,
    payload,
    ...optional("item_id", stringOf(tool_use_id)),
    ...optional("path", path),
  };
  return { ask, input, grants };
}

/** The body of the control response. Whatever the answer is, nothing is allowed that it does not allow. */
export function toResponse(asked: Asked, answer: Answer): JsonObject {
  const { ask, input, grants } = asked;
  const isQuestion = ask.request_type === "user_input";
  if ("answers" in answer) {
    if (!isQuestion) return deny("This needs a decision, not answers.");
    return { behavior: "allow", updatedInput: { ...input, answers: joined(answer.answers) } };
  }
  const { decision, option, message = DECLINED, updated_input } = answer;
  if (decision === "decline") return deny(message);
  if (decision === "cancel") return { ...deny(message), interrupt: true };
  if (isQuestion) return deny("The user gave no answers.");
  // Claude reads an empty input as "unchanged" and would run the original.
  if (
    updated_input !== undefined &&
    Object.keys(updated_input).length === 0 &&
    Object.keys(input).length > 0
  ) {
    return deny("The user removed the whole input.");
  }
  const isChosen = ({ choice }: Grant) => choice.decision === decision && choice.option === option;
  const updates = grants.find(isChosen)?.updates ?? [];
  return {
    behavior: "allow",
    updatedInput: updated_input ?? input,
    ...(updates.length > 0 ? { updatedPermissions: updates } : {}),
  };
}

const REFUSALS: Choice[] = [
  { decision: "decline", takes: ["message"] },
  { decision: "cancel", takes: ["message"] },
];

interface Description extends Omit<Partial<RequestPayload>, "title" | "choices"> {
  request_type: RequestType;
  title?: { name?: string; text: string };
  /** Instead of the usual ones. */
  choices?: Choice[];
}

function describe(tool: string, input: JsonObject, place: Place, plan: string | undefined): Description {
  const change = toFileChange(tool, input, place.exists);
  if (change !== undefined) {
    // The tool's name says it already where a part of a file changes.
    const title = { text: change.kind === "update" ? change.path : changesText([change]) };
    return { request_type: "file_change", changes: [change], title };
  }
  if (tool === "Bash" && typeof input["command"] === "string") {
    const { command } = input as { command: string };
    return { request_type: "command", command, cwd: place.cwd, title: { text: command } };
  }
  if (tool === "ExitPlanMode") return describePlan(input, place, plan);
  const questions = tool === "AskUserQuestion" ? toQuestions(input) : undefined;
  if (questions === undefined) return { request_type: "tool" };
  const more = questions.length > 1 ? ` (and ${questions.length - 1} more)` : "";
  const title = { name: "Question", text: `${questions[0]?.question}${more}` };
  return { request_type: "user_input", questions, title, choices: [{ decision: "accept" }, ...REFUSALS] };
}

function describePlan(input: JsonObject, place: Place, found: string | undefined): Description {
  const plan = stringOf(input["plan"]);
  const title = { name: "Plan", text: plan ?? found ?? "leave plan mode" };
  const accept: Choice = { decision: "accept", takes: ["updated_input"] };
  if (plan === undefined) {
    return { request_type: "plan", ...optional("plan", found), title, choices: [accept, ...REFUSALS] };
  }
  // The name of the file is claude's secret until it is written.
  const path = stringOf(input["planFilePath"]) ?? join(place.configDir, "plans", "<name>.md");
  const choices = [{ ...accept, writes: [{ path, content: plan }] }, ...REFUSALS];
  return { request_type: "plan", plan, title, choices };
}

const AskUserQuestion = z.looseObject({
  questions: z
    .array(
      z.looseObject({
        question: z.string(),
        header: z.string().optional(),
        multiSelect: z.boolean().optional(),
        options: z.array(z.looseObject({ label: z.string(), description: z.string().optional() })).optional(),
      }),
    )
    .min(1),
});

/** Claude keys the answers by the text of the question, so that is the id. */
function toQuestions(input: JsonObject): Question[] | undefined {
  const { questions } = AskUserQuestion.safeParse(input).data ?? { questions: [] };
  const ids = new Set(questions.map(({ question }) => question));
  if (ids.size === 0 || ids.size < questions.length) return undefined;
  return questions.map(({ question, header, multiSelect, options }) => ({
    id: question,
    question,
    ...optional("header", header),
    ...optional(
      "options",
      options?.map(({ label, description }) => ({ label, ...optional("description", description) })),
    ),
    ...(multiSelect === true ? { multi_select: true } : {}),
    allows_other: true,
  }));
}

function joined(answers: Record<string, string | string[]>): Record<string, string> {
  const texts = Object.entries(answers).map(([id, said]) => [
    id,
    Array.isArray(said) ? said.join(", ") : said,
  ]);
  return Object.fromEntries(texts) as Record<string, string>;
}

function deny(message: string): JsonObject {
  // Claude refuses an empty message.
  return { behavior: "deny", message: message || DECLINED };
}

function textOf(input: JsonObject, details: JsonObject): string {
  return stringOf(details["description"]) ?? JSON.stringify(input);
}
