// `can_use_tool` requests → what the user is asked, and answers → responses to claude. Pure; open requests are in
// pending.ts.

import { join } from "node:path";
import type { ControlRequest } from "../../base/claude-wire/control.ts";
import { AskUserQuestion } from "../../base/claude-wire/questions.ts";
import { isObject, type JsonObject } from "../../base/json.ts";
import { asString, defined } from "../../base/values.ts";
import { formatChanges } from "../../protocol/change-labels.ts";
import type { Answer, Choice, Question, RequestPayload, RequestType } from "../../protocol/requests.ts";
import { cutTitle } from "../request-title.ts";
import type { Ask } from "../types.ts";
import { type Disk, toFileChange } from "./changes.ts";
import { type Grant, listGrants, readSuggestions, type SettingsFiles } from "./suggestions.ts";

/** A request to the user, and what the response to claude needs. */
export interface ClaudeAsk {
  ask: Ask;
  input: JsonObject;
  grants: Grant[];
}

/** Where claude works and keeps its files. */
export interface Place {
  cwd: string;
  configDir: string;
  settings: SettingsFiles;
  disk: Disk;
}

const DECLINED = "The user declined this.";

/**
 * Undefined if the request is malformed. `path` names the sub-agents that ask; `plan` is the plan of a request to leave
 * plan mode that does not contain it.
 */
export function toClaudeAsk(
  request: Pick<ControlRequest, "request_id" | "body">,
  place: Place,
  { path, plan }: { path?: string[] | undefined; plan?: string | undefined } = {},
): ClaudeAsk | undefined {
  const { tool_name, input, tool_use_id, subtype: _subtype, ...details } = request.body;
  if (typeof tool_name !== "string" || !isObject(input)) return undefined;
  const suggestions = readSuggestions(details["permission_suggestions"]);
  const grants = listGrants(suggestions, { tool: tool_name, input }, place.settings);
  const { request_type, title, choices, ...shown } = describe(tool_name, input, place, plan);
  const payload: RequestPayload = {
    title: cutTitle(`${title?.name ?? tool_name}: ${title?.text ?? describeInput(input, details)}`),
    ...defined({ reason: asString(details["decision_reason"]) ?? findPurpose(details, input) }),
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
    ...defined({ item_id: asString(tool_use_id), path }),
  };
  return { ask, input, grants };
}

/** The body of the control response. Allows nothing that the answer does not. */
export function toResponse(asked: ClaudeAsk, answer: Answer): JsonObject {
  const { ask, input, grants } = asked;
  const isQuestion = ask.request_type === "user_input";
  if ("answers" in answer) {
    if (!isQuestion) return deny("This needs a decision, not answers.");
    return { behavior: "allow", updatedInput: { ...input, answers: joinAnswers(answer.answers) } };
  }
  const { decision, option, message = DECLINED, updated_input } = answer;
  if (decision === "decline") return deny(message);
  if (decision === "cancel") return { ...deny(message), interrupt: true };
  if (isQuestion) return deny("The user gave no answers.");
  // Claude takes an empty input for "unchanged" and would run the original.
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

/** What the agent says that it is for. Of a file Claude only repeats the name, which is no reason. */
function findPurpose(details: JsonObject, { file_path, notebook_path }: JsonObject): string | undefined {
  const purpose = asString(details["description"]);
  const path = asString(file_path) ?? asString(notebook_path);
  return purpose !== undefined && path?.endsWith(purpose) === true ? undefined : purpose;
}

interface Description extends Omit<Partial<RequestPayload>, "title" | "choices"> {
  request_type: RequestType;
  title?: { name?: string; text: string };
  /** Replaces the default choices. */
  choices?: Choice[];
}

function describe(tool: string, input: JsonObject, place: Place, plan: string | undefined): Description {
  const change = toFileChange(tool, input, place.disk);
  if (change !== undefined) {
    // For a partial change the tool's name says enough.
    const title = { text: change.kind === "update" ? change.path : formatChanges([change]) };
    return { request_type: "file_change", changes: [change], title };
  }
  if (tool === "Bash" && typeof input["command"] === "string") {
    const { command } = input as { command: string };
    const where = { cwd: place.cwd, cwd_may_differ: true as const };
    return { request_type: "command", command, ...where, title: { text: command } };
  }
  if (tool === "ExitPlanMode") return describePlan(input, place, plan);
  const questions = tool === "AskUserQuestion" ? toQuestions(input) : undefined;
  if (questions === undefined) return { request_type: "tool" };
  const more = questions.length > 1 ? ` (and ${questions.length - 1} more)` : "";
  const title = { name: "Question", text: `${questions[0]?.question}${more}` };
  return { request_type: "user_input", questions, title, choices: [{ decision: "accept" }, ...REFUSALS] };
}

function describePlan(input: JsonObject, place: Place, found: string | undefined): Description {
  const plan = asString(input["plan"]);
  const title = { name: "Plan", text: plan ?? found ?? "leave plan mode" };
  const accept: Choice = { decision: "accept", takes: ["updated_input"] };
  if (plan === undefined) {
    return { request_type: "plan", ...defined({ plan: found }), title, choices: [accept, ...REFUSALS] };
  }
  // The file has no known name until claude writes it.
  const path = asString(input["planFilePath"]) ?? join(place.configDir, "plans", "<name>.md");
  const choices = [{ ...accept, writes: [{ path, content: plan }] }, ...REFUSALS];
  return { request_type: "plan", plan, title, choices };
}

/** Claude keys answers by the text of the question, so the text is the id. */
function toQuestions(input: JsonObject): Question[] | undefined {
  const { questions } = AskUserQuestion.safeParse(input).data ?? { questions: [] };
  const ids = new Set(questions.map(({ question }) => question));
  if (ids.size === 0 || ids.size < questions.length) return undefined;
  return questions.map(({ question, header, multiSelect, options }) => ({
    id: question,
    question,
    ...defined({
      header,
      options: options?.map(({ label, description }) => ({ label, ...defined({ description }) })),
    }),
    ...(multiSelect === true ? { multi_select: true } : {}),
    allows_other: true,
  }));
}

function joinAnswers(answers: Record<string, string | string[]>): Record<string, string> {
  const texts = Object.entries(answers).map(([id, said]) => [
    id,
    Array.isArray(said) ? said.join(", ") : said,
  ]);
  return Object.fromEntries(texts) as Record<string, string>;
}

function deny(message: string): JsonObject {
  // Claude rejects an empty message.
  return { behavior: "deny", message: message || DECLINED };
}

function describeInput(input: JsonObject, details: JsonObject): string {
  return asString(details["description"]) ?? JSON.stringify(input);
}
