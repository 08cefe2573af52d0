// Claude Code's permission requests as the gate sees them, and the hook that makes it ask before every tool.

import type { ControlAnswer, ControlRequest } from "../../../base/claude-wire/control.ts";
import { toMessage } from "../../../base/coded-error.ts";
import { isObject, type JsonObject } from "../../../base/json.ts";
import { asText, defined } from "../../../base/values.ts";
import type { ToolAnswer, ToolRequest } from "./transport.ts";

const HOOK_ID = "ask-every-tool";

/** Without this hook Claude Code runs reads, and whatever its own rules allow, without asking. Its denials still hold. */
export const ASK_HOOKS = { PreToolUse: [{ hookCallbackIds: [HOOK_ID] }] };
/** What the hook answers. */
export const ASK = { hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "ask" } };

type CanUseTool = (request: ToolRequest, signal: AbortSignal) => Promise<ToolAnswer>;

/** Never rejects. */
export async function answerControl(request: ControlRequest, canUseTool: CanUseTool): Promise<ControlAnswer> {
  const { subtype, body, signal } = request;
  if (subtype === "hook_callback" && body["callback_id"] === HOOK_ID) return { ok: true, response: ASK };
  const wanted = subtype === "can_use_tool" ? toToolRequest(body) : undefined;
  if (wanted === undefined)
    return { ok: false, error: `demian does not support ${subtype || "this request"}` };
  const response = await canUseTool(wanted, signal).catch(
    (error: unknown): ToolAnswer => ({ behavior: "deny", message: toMessage(error) }),
  );
  return { ok: true, response };
}

/** Undefined if the request is malformed. */
export function toToolRequest(body: JsonObject): ToolRequest | undefined {
  const { tool_name: tool, tool_use_id: callId, input } = body;
  if (typeof tool !== "string" || typeof callId !== "string" || !isObject(input)) return undefined;
  // If the reason is our own hook, there is nothing to show.
  const isOurHook = body["decision_reason_type"] === "hook";
  return {
    callId,
    tool,
    input,
    ...defined({
      title: asText(body["title"]) ?? asText(body["description"]),
      reason: isOurHook ? undefined : asText(body["decision_reason"]),
      agentId: asText(body["agent_id"]),
    }),
  };
}
