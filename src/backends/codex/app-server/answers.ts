// An answer → the `result` of Codex's JSON-RPC request.
import type { JsonObject } from "../../../base/json.ts";
import type { Answer, Decision } from "../../../protocol/requests.ts";
import { fillForm } from "../../forms.ts";
import type { ToolOutcome } from "../../types.ts";
import { readAmendment } from "./request-commands.ts";
import { readGranted } from "./request-others.ts";
import type { CodexPendingAsk } from "./state.ts";

type Answers = Record<string, string | string[]>;
type Reply = (params: JsonObject, decision: Decision, answer: Answer) => unknown;

const REPLIES: ReadonlyMap<string, Reply> = new Map<string, Reply>([
  [
    "item/commandExecution/requestApproval",
    (params, decision) => ({ decision: commandDecision(params, decision) }),
  ],
  ["item/fileChange/requestApproval", (_params, decision) => ({ decision: plainDecision(decision) })],
  ["item/permissions/requestApproval", grant],
  ["item/tool/requestUserInput", (_params, _decision, answer) => ({ answers: inputAnswers(answer) })],
  ["mcpServer/elicitation/request", elicit],
  ["applyPatchApproval", legacy],
  ["execCommandApproval", legacy],
]);

/** Total: an answer of the wrong kind (answers instead of a decision) declines. */
export function toNativeAnswer(ask: CodexPendingAsk, answer: Answer): unknown {
  const reply = REPLIES.get(ask.method);
  if (reply === undefined) return { decision: "decline" };
  return reply(ask.params, "decision" in answer ? answer.decision : "decline", answer);
}

export function toToolResult({ text, isError }: ToolOutcome): JsonObject {
  return { success: isError !== true, contentItems: [{ type: "inputText", text }] };
}

function commandDecision(params: JsonObject, decision: Decision): unknown {
  const amendment = readAmendment(params);
  if (decision !== "acceptAlways" || amendment === undefined) return plainDecision(decision);
  return { acceptWithExecpolicyAmendment: { execpolicy_amendment: amendment } };
}

/** If nothing can be remembered, at least once was meant. */
function plainDecision(decision: Decision): Decision {
  return decision === "acceptAlways" ? "accept" : decision;
}

function grant(params: JsonObject, decision: Decision): unknown {
  const isGranted = decision !== "decline" && decision !== "cancel";
  return {
    permissions: isGranted ? readGranted(params) : {},
    scope: decision === "acceptForSession" ? "session" : "turn",
  };
}

/** Without answers the model continues on its own. */
function inputAnswers(answer: Answer): unknown {
  const answers: Answers = "answers" in answer ? answer.answers : {};
  return Object.fromEntries(
    Object.entries(answers).map(([id, value]) => [id, { answers: Array.isArray(value) ? value : [value] }]),
  );
}

const PERSIST: Partial<Record<Decision, string>> = { acceptForSession: "session", acceptAlways: "always" };

function elicit(params: JsonObject, decision: Decision, answer: Answer): unknown {
  if ("answers" in answer)
    return { action: "accept", content: fillForm(params, answer.answers), _meta: null };
  if (decision === "decline" || decision === "cancel")
    return { action: decision, content: null, _meta: null };
  const persist = PERSIST[decision];
  return { action: "accept", content: {}, _meta: persist === undefined ? null : { persist } };
}

const REVIEW_DECISIONS: Partial<Record<Decision, string>> = {
  accept: "approved",
  acceptAlways: "approved",
  acceptForSession: "approved_for_session",
  cancel: "abort",
};

function legacy(_params: JsonObject, decision: Decision, answer: Answer): unknown {
  const rejection = "message" in answer && answer.message ? answer.message : "declined by the user";
  return { decision: REVIEW_DECISIONS[decision] ?? { denied: { rejection } } };
}
