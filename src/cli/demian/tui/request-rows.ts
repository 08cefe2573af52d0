// What the runtime asks a person, as the requests that every screen shows, and the answers back. Pure. The payload holds
// all that a decision rests on, whole.
import { createHash } from "node:crypto";
import { CodedError } from "../../../base/coded-error.ts";
import type { Answer, Choice, RequestPayload, RequestRow } from "../../../protocol/requests.ts";
import { invocationText } from "../../../runtime/permissions/invocation-text.ts";
import type { PermissionAnswer, PermissionPrompt } from "../../../runtime/permissions/types.ts";
import type { UserQuestion } from "../../../runtime/tools/types.ts";
import { changesOf } from "./changes.ts";
import { BACKEND } from "./event-frames.ts";

export type Asked = Pick<RequestRow, "request_type" | "payload" | "path">;

const QUESTION_ID = "answer";
const WIDENS = "The rules of this agent deny it: only you can allow it.";

export function askedPermission(prompt: PermissionPrompt): Asked {
  const { command, cwd, changes, tool, title, input, agentPath = [] } = prompt;
  const reason = reasonOf(prompt);
  const payload: RequestPayload = {
    title: titleOf(prompt) ?? title,
    ...(reason === "" ? {} : { reason }),
    ...(command === undefined ? {} : { command }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(changes === undefined ? {} : { changes: changesOf(changes) }),
    tool_name: tool,
    ...(isShownByInput(prompt) ? { input } : {}),
    choices: choicesOf(prompt.always),
    ...detailsOf(prompt),
  };
  return {
    request_type: command !== undefined ? "command" : changes !== undefined ? "file_change" : "tool",
    payload,
    ...(agentPath.length === 0 ? {} : { path: [...agentPath] }),
  };
}

export function askedQuestion({ text, options = [] }: UserQuestion): Asked {
  const question = {
    id: QUESTION_ID,
    question: text,
    ...(options.length === 0 ? {} : { options: options.map((label) => ({ label })) }),
    allows_other: true,
  };
  const [title = text] = text.trim().split("\n");
  const choices: Choice[] = [{ decision: "accept" }, { decision: "decline" }, { decision: "cancel" }];
  return { request_type: "user_input", payload: { title, questions: [question], choices } };
}

/** The row as it stands while it waits. */
export function rowOf(
  asked: Asked,
  ids: { request_id: string; session_id: string; item_id?: string; requested_at_ms: number },
): RequestRow {
  return {
    ...ids,
    ...asked,
    backend: BACKEND,
    status: "pending",
    shown_hash: createHash("sha256").update(JSON.stringify(asked.payload)).digest("hex"),
    generation: "1",
  };
}

/** Only what was offered is taken. */
export function permissionAnswer(row: RequestRow, answer: Answer): PermissionAnswer {
  if (!("decision" in answer)) throw notOffered(row, "answers to questions");
  const { decision, message } = answer;
  if (!row.payload.choices.some((choice) => choice.decision === decision)) throw notOffered(row, decision);
  const reason = message === undefined || message.trim() === "" ? {} : { reason: message };
  if (decision === "accept") return { decision: "allow" };
  if (decision === "acceptAlways") return { decision: "allow", always: true };
  return { decision: "deny", ...reason, ...(decision === "cancel" ? { stop: true } : {}) };
}

/** Undefined: nobody answers. */
export function questionAnswer(answer: Answer): string | undefined {
  if (!("answers" in answer)) return undefined;
  const given = answer.answers[QUESTION_ID];
  const text = typeof given === "string" ? given : (given ?? []).join(", ");
  return text.trim() === "" ? undefined : text.trim();
}

function notOffered({ request_id }: RequestRow, what: string): CodedError {
  return new CodedError("invalid_answer", `${what}: this is not offered for request ${request_id}`);
}

function choicesOf(always: string | undefined): Choice[] {
  return [
    { decision: "accept" },
    ...(always === undefined ? [] : [{ decision: "acceptAlways" as const, remembers: [always] }]),
    { decision: "decline", takes: ["message"] },
    { decision: "cancel" },
  ];
}

/** Where nothing says better what will happen. */
function isShownByInput({ command, changes, invocation, input }: PermissionPrompt): boolean {
  return command === undefined && changes === undefined && invocation === undefined && input !== undefined;
}

function titleOf({ invocation }: PermissionPrompt): string | undefined {
  if (invocation === undefined) return undefined;
  return `start the agent ${invocation.agent} with the provider ${invocation.provider}`;
}

/** Why it is asked; of an agent that starts all that it is given, word for word. */
function reasonOf({ reason, sandbox, widens, executor, invocation }: PermissionPrompt): string {
  return [
    reason,
    isOpen(sandbox) ? `Sandbox ${sandbox}: the command can do everything you can.` : undefined,
    widens ? WIDENS : undefined,
    executor === undefined ? undefined : `${executor} runs it itself, outside of demian's sandbox.`,
    ...(invocation === undefined ? [] : startWords(invocation)),
  ]
    .filter((line) => line !== undefined)
    .join("\n");
}

function startWords(invocation: NonNullable<PermissionPrompt["invocation"]>): string[] {
  const { lines, handoff } = invocationText(invocation);
  return [...lines, handoff];
}

function detailsOf({ sandbox }: PermissionPrompt): Pick<RequestPayload, "details"> {
  return sandbox === undefined ? {} : { details: { sandbox } };
}

function isOpen(sandbox: string | undefined): boolean {
  return sandbox === "off" || sandbox === "env-only";
}
