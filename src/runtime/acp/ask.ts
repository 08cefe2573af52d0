// Asks the client's user for permission for a tool call, or to fill in a form. Any failure denies.

import { createHash } from "node:crypto";
import type {
  AgentContext,
  PermissionOption,
  RequestPermissionRequest,
  ToolCallContent,
} from "@agentclientprotocol/sdk";
import { isObject } from "../../base/json.ts";
import { reveal, revealLine } from "../../base/sanitize.ts";
import { asObject, asString, asText, defined } from "../../base/values.ts";
import { describeInvocation } from "../permissions/invocation-text.ts";
import type { PermissionAnswer, PermissionPrompt } from "../permissions/types.ts";
import type { ToolRegistry } from "../tools/registry.ts";
import type { UserQuestion } from "../tools/types.ts";
import {
  chooseKind,
  findLocations,
  limitInput,
  readChanges,
  toDiffs,
  toTextContent,
  toTitleLine,
} from "./tool-view.ts";

export interface PermissionView {
  sessionId: string;
  cwd: string;
  tools: ToolRegistry;
  toolCallId: string;
  /** For a sub-agent: the call that started it. */
  parentToolCallId: string | undefined;
}

export function buildPermissionRequest(
  prompt: PermissionPrompt,
  view: PermissionView,
): RequestPermissionRequest {
  const { command, cwd, sandbox, reason, always, agentPath = [], executor, invocation } = prompt;
  const call = { name: prompt.tool, input: prompt.input, executor };
  const changes = prompt.changes ?? readChanges(call);
  const lines = [
    command === undefined ? undefined : `$ ${reveal(command)}`,
    reason,
    executor === undefined ? undefined : `${executor} runs it itself, outside demian.`,
    ...(invocation === undefined ? [] : describeStart(invocation)),
  ].filter((line) => line !== undefined);
  const content: ToolCallContent[] = [...toDiffs(view.cwd, changes), ...lines.map(toTextContent)];
  return {
    sessionId: view.sessionId,
    toolCall: {
      toolCallId: view.toolCallId,
      name: prompt.tool,
      title: toTitleLine(revealLine([...agentPath, prompt.title].join(" › "))),
      kind: chooseKind(view.tools, call),
      status: "pending",
      rawInput: buildRawInput(prompt),
      locations: findLocations(view.cwd, prompt.input, changes),
      ...(content.length > 0 && { content }),
      _meta: {
        demian: {
          agent: prompt.agent,
          ...(agentPath.length > 0 && { agentPath }),
          ...defined({ parentToolCallId: view.parentToolCallId, executor }),
          ...(prompt.widens && { widens: true }),
          ...(invocation !== undefined && { invocation: limitInput(invocation) }),
          ...defined({ command, cwd, sandbox, reason, always }),
        },
      },
    },
    options: listOptions(always),
  };
}

function describeStart(invocation: NonNullable<PermissionPrompt["invocation"]>): string[] {
  const { lines, handoff } = describeInvocation(invocation);
  return [...lines.map(revealLine), reveal(handoff)];
}

/**
 * A client may store an "always" by this value. For a sub-agent it therefore includes the provider, the model and a digest
 * of the handoff, which itself is in the content.
 */
function buildRawInput({ input, invocation }: PermissionPrompt): unknown {
  if (invocation === undefined) return limitInput(input);
  const { provider, model, handoff } = invocation;
  const decided = {
    provider,
    model,
    handoff: `sha256 ${createHash("sha256").update(handoff).digest("hex")}`,
  };
  return limitInput({ ...(isObject(input) ? input : { input }), invocation: decided });
}

function listOptions(always: string | undefined): PermissionOption[] {
  return [
    { optionId: "allow_once", name: "Allow once", kind: "allow_once" },
    ...(always === undefined
      ? []
      : [
          {
            optionId: "allow_always",
            name: toTitleLine(`Always allow: ${always}`),
            kind: "allow_always",
          } as const,
        ]),
    { optionId: "reject_once", name: "Reject", kind: "reject_once" },
  ];
}

/** The SDK does not validate responses. */
export function readPermissionAnswer(response: unknown, isAlwaysOffered: boolean): PermissionAnswer {
  const outcome = asObject(asObject(response)["outcome"]);
  const kind = outcome["outcome"];
  const optionId = outcome["optionId"];
  if (kind === "selected" && optionId === "allow_once") return { decision: "allow" };
  if (kind === "selected" && optionId === "allow_always" && isAlwaysOffered) {
    return { decision: "allow", always: true };
  }
  const reason = findReason(response);
  if (kind === "selected" && optionId === "reject_once") {
    return { decision: "deny", ...defined({ reason }) };
  }
  if (kind === "cancelled") return { decision: "deny", reason: reason ?? "the client sent no answer" };
  return { decision: "deny", reason: "the client's answer is not one of the options" };
}

/** The user's reason for a denial. */
function findReason(response: unknown): string | undefined {
  return asText(asObject(asObject(asObject(response)["_meta"])["blemees"])["reason"]);
}

/** Undefined if there is no answer. */
export async function askForm(
  client: AgentContext,
  sessionId: string,
  question: UserQuestion,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { text, options } = question;
  const answer = {
    type: "string" as const,
    title: "Answer",
    ...(options === undefined || options.length === 0 ? {} : { enum: [...options] }),
  };
  try {
    const response: unknown = await client.request(
      "elicitation/create",
      {
        mode: "form",
        sessionId,
        message: text,
        requestedSchema: { type: "object", properties: { answer }, required: ["answer"] },
      },
      { cancellationSignal: signal, stopWaitingOnCancel: true },
    );
    const { action, content } = asObject(response);
    return action === "accept" ? asString(asObject(content)["answer"]) : undefined;
  } catch {
    // Refused, cancelled or disconnected.
    return undefined;
  }
}
