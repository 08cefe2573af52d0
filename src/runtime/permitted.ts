// Asks the permission gate about a tool call, ours or an external agent's, and emits the matching events.
import { defined } from "../base/values.ts";
import type { GateCall, GateDecision } from "./permissions/gate.ts";
import { buildHookInput, type Services } from "./services.ts";

export interface PermissionTargetName {
  targetType: "tool" | "agent";
  targetName: string;
}

/** Never rejects. */
export async function obtainPermission(
  services: Services,
  call: Omit<GateCall, "sessionId" | "onRequest">,
  about: PermissionTargetName,
  signal: AbortSignal,
): Promise<GateDecision> {
  const { emit, hooks, gate, sessionId, subAgent } = services;
  const { callId } = call;
  const target = { callId, ...about };
  const verdict = await gate.decide(
    {
      ...call,
      ...subAgent,
      sessionId,
      onRequest: async (prompt) => {
        const { title, always } = prompt;
        emit({
          type: "permission.requested",
          ...target,
          title,
          decision: "ask",
          ...defined({ always }),
        });
        const input = { callId, toolName: call.tool, toolInput: prompt.input, decision: "ask" };
        return hooks.dispatch(buildHookInput(services, "PermissionRequest", input), signal);
      },
    },
    signal,
  );
  const { by, reason } = verdict;
  if (verdict.allowed) emit({ type: "permission.granted", ...target, by, always: verdict.always });
  else emit({ type: "permission.denied", ...target, by, ...defined({ reason }) });
  return verdict;
}

/** The denial as the model reads it. */
export function explainDenial({ by, reason }: Pick<GateDecision, "by" | "reason">): string {
  const why = reason === undefined ? "" : `: ${reason}`;
  if (by === "user")
    return `The user denied this${why}. Do not try to do it another way; ask, or continue without it.`;
  if (by === "nobody")
    return `This needs the user's approval, and no user is available${why}. Do not try to do it another way; continue without it.`;
  return `Denied by policy${why}. Do not try to do it another way.`;
}
