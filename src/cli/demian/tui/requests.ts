// Turns the runtime's prompts and questions into requests, and answers back. Pure. The payload has everything needed to
// decide, uncut.

import type { Ask } from "../../../backends/types.ts";
import { defined } from "../../../base/values.ts";
import type { Answer, Choice, RequestPayload } from "../../../protocol/requests.ts";
import { describeInvocation } from "../../../runtime/permissions/invocation-text.ts";
import type { PermissionAnswer, PermissionPrompt } from "../../../runtime/permissions/types.ts";
import type { UserQuestion } from "../../../runtime/tools/types.ts";
import { toFileChanges } from "./changes.ts";

export type Described = Pick<Ask, "request_type" | "payload" | "path">;

const QUESTION_ID = "answer";
const WIDENS = "This agent's rules deny it; only you can allow it.";

export function describePermission(prompt: PermissionPrompt): Described {
  const { command, cwd, changes, tool, title, input, agentPath = [] } = prompt;
  const reason = formatReason(prompt);
  const payload: RequestPayload = {
    title: formatTitle(prompt) ?? title,
    ...(reason === "" ? {} : { reason }),
    ...defined({ command, cwd }),
    ...(changes === undefined ? {} : { changes: toFileChanges(changes) }),
    tool_name: tool,
    ...(isShownByInput(prompt) ? { input } : {}),
    choices: listChoices(prompt.always),
    ...toDetails(prompt),
  };
  return {
    request_type: command !== undefined ? "command" : changes !== undefined ? "file_change" : "tool",
    payload,
    ...(agentPath.length === 0 ? {} : { path: [...agentPath] }),
  };
}

export function describeQuestion({ text, options = [] }: UserQuestion): Described {
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

/** The core has checked that the answer was offered. */
export function toPermission(answer: Answer): PermissionAnswer {
  if (!("decision" in answer)) return { decision: "deny" };
  const { decision, message } = answer;
  if (decision === "accept") return { decision: "allow" };
  if (decision === "acceptAlways") return { decision: "allow", always: true };
  const reason = message === undefined || message.trim() === "" ? {} : { reason: message };
  return { decision: "deny", ...reason, ...(decision === "cancel" ? { stop: true } : {}) };
}

/** Undefined if there is no answer. */
export function readAnswer(answer: Answer): string | undefined {
  if (!("answers" in answer)) return undefined;
  const given = answer.answers[QUESTION_ID];
  const text = typeof given === "string" ? given : (given ?? []).join(", ");
  return text.trim() === "" ? undefined : text.trim();
}

function listChoices(always: string | undefined): Choice[] {
  return [
    { decision: "accept" },
    ...(always === undefined ? [] : [{ decision: "acceptAlways" as const, remembers: [always] }]),
    { decision: "decline", takes: ["message"] },
    { decision: "cancel" },
  ];
}

/** Shows the raw input if there is no better description. */
function isShownByInput({ command, changes, invocation, input }: PermissionPrompt): boolean {
  return command === undefined && changes === undefined && invocation === undefined && input !== undefined;
}

function formatTitle({ invocation }: PermissionPrompt): string | undefined {
  if (invocation === undefined) return undefined;
  return `start the agent ${invocation.agent} with the provider ${invocation.provider}`;
}

/** Why permission is needed; for a sub-agent also its whole handoff. */
function formatReason({ reason, sandbox, widens, executor, invocation }: PermissionPrompt): string {
  return [
    reason,
    isOpen(sandbox) ? `Sandbox ${sandbox}: the command runs with your full permissions.` : undefined,
    widens ? WIDENS : undefined,
    executor === undefined ? undefined : `${executor} runs it itself, outside demian's sandbox.`,
    ...(invocation === undefined ? [] : formatInvocation(invocation)),
  ]
    .filter((line) => line !== undefined)
    .join("\n");
}

function formatInvocation(invocation: NonNullable<PermissionPrompt["invocation"]>): string[] {
  const { lines, handoff } = describeInvocation(invocation);
  return [...lines, handoff];
}

function toDetails({ sandbox }: PermissionPrompt): Pick<RequestPayload, "details"> {
  return sandbox === undefined ? {} : { details: { sandbox } };
}

function isOpen(sandbox: string | undefined): boolean {
  return sandbox === "off" || sandbox === "env-only";
}
