// Questions to the person behind the client: permission for a tool call, and forms. Whatever goes wrong, nothing is allowed.
import { createHash } from "node:crypto";
import type {
  AgentContext,
  PermissionOption,
  RequestPermissionRequest,
  ToolCallContent,
} from "@agentclientprotocol/sdk";
import { isObject } from "../../base/json.ts";
import { reveal, revealLine } from "../../base/sanitize.ts";
import { invocationText } from "../permissions/invocation-text.ts";
import type { PermissionAnswer, PermissionPrompt } from "../permissions/types.ts";
import type { ToolRegistry } from "../tools/registry.ts";
import type { UserQuestion } from "../tools/types.ts";
import { changesOf, diffsOf, kindOf, locationsOf, oneLine, shownInput, textContent } from "./tool-view.ts";

export interface PermissionView {
  sessionId: string;
  cwd: string;
  tools: ToolRegistry;
  /** The call's name on the wire. */
  toolCallId: string;
  /** Of a sub-agent's: the call that started it. */
  parentToolCallId: string | undefined;
}

export function permissionRequest(prompt: PermissionPrompt, view: PermissionView): RequestPermissionRequest {
  const { command, cwd, sandbox, reason, always, agentPath = [], executor, invocation } = prompt;
  const call = { name: prompt.tool, input: prompt.input, executor };
  const changes = prompt.changes ?? changesOf(call);
  const words = [
    command === undefined ? undefined : `$ ${reveal(command)}`,
    reason,
    executor === undefined ? undefined : `${executor} runs it itself, and not demian.`,
    ...(invocation === undefined ? [] : startWords(invocation)),
  ].filter((line) => line !== undefined);
  const content: ToolCallContent[] = [...diffsOf(view.cwd, changes), ...words.map(textContent)];
  return {
    sessionId: view.sessionId,
    toolCall: {
      toolCallId: view.toolCallId,
      name: prompt.tool,
      title: oneLine(revealLine([...agentPath, prompt.title].join(" › "))),
      kind: kindOf(view.tools, call),
      status: "pending",
      rawInput: askedInput(prompt),
      locations: locationsOf(view.cwd, prompt.input, changes),
      ...(content.length > 0 && { content }),
      _meta: {
        demian: {
          agent: prompt.agent,
          ...(agentPath.length > 0 && { agentPath }),
          ...(view.parentToolCallId !== undefined && { parentToolCallId: view.parentToolCallId }),
          ...(executor !== undefined && { executor }),
          ...(prompt.widens && { widens: true }),
          ...(invocation !== undefined && { invocation: shownInput(invocation) }),
          ...(command !== undefined && { command }),
          ...(cwd !== undefined && { cwd }),
          ...(sandbox !== undefined && { sandbox }),
          ...(reason !== undefined && { reason }),
          ...(always !== undefined && { always }),
        },
      },
    },
    options: optionsOf(always),
  };
}

function startWords(invocation: NonNullable<PermissionPrompt["invocation"]>): string[] {
  const { lines, handoff } = invocationText(invocation);
  return [...lines.map(revealLine), reveal(handoff)];
}

/**
 * A client may remember what was allowed by what it saw here. Of an agent that starts that is everything which was
 * decided for it, and not only what the model said; what it is given stands in the content, and here is its digest.
 */
function askedInput({ input, invocation }: PermissionPrompt): unknown {
  if (invocation === undefined) return shownInput(input);
  const { provider, model, handoff } = invocation;
  const decided = {
    provider,
    model,
    handoff: `sha256 ${createHash("sha256").update(handoff).digest("hex")}`,
  };
  return shownInput({ ...(isObject(input) ? input : { input }), invocation: decided });
}

function optionsOf(always: string | undefined): PermissionOption[] {
  return [
    { optionId: "allow_once", name: "Allow once", kind: "allow_once" },
    ...(always === undefined
      ? []
      : [
          {
            optionId: "allow_always",
            name: oneLine(`Always allow: ${always}`),
            kind: "allow_always",
          } as const,
        ]),
    { optionId: "reject_once", name: "Reject", kind: "reject_once" },
  ];
}

/** The SDK does not check answers, so anything may stand in it. */
export function permissionAnswer(response: unknown, isAlwaysOffered: boolean): PermissionAnswer {
  const outcome = isObject(response) && isObject(response["outcome"]) ? response["outcome"] : {};
  const kind = outcome["outcome"];
  const optionId = outcome["optionId"];
  if (kind === "selected" && optionId === "allow_once") return { decision: "allow" };
  if (kind === "selected" && optionId === "allow_always" && isAlwaysOffered) {
    return { decision: "allow", always: true };
  }
  const reason = reasonIn(response);
  if (kind === "selected" && optionId === "reject_once") {
    return { decision: "deny", ...(reason === undefined ? {} : { reason }) };
  }
  if (kind === "cancelled") return { decision: "deny", reason: reason ?? "the client gave no answer" };
  return { decision: "deny", reason: "the client's answer was not one of the options" };
}

/** What a person wrote with a refusal. */
function reasonIn(response: unknown): string | undefined {
  const meta = isObject(response) ? response["_meta"] : undefined;
  const ours = isObject(meta) ? meta["blemees"] : undefined;
  const reason = isObject(ours) ? ours["reason"] : undefined;
  return typeof reason === "string" && reason !== "" ? reason : undefined;
}

/** Undefined: nobody answered. */
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
    if (!isObject(response) || response["action"] !== "accept" || !isObject(response["content"]))
      return undefined;
    const given = response["content"]["answer"];
    return typeof given === "string" ? given : undefined;
  } catch {
    // Refused, cancelled or gone: for the tool all are "no answer".
    return undefined;
  }
}
