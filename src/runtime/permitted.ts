// May it happen? The gate's word about a tool, of ours or of another agent's, with the events that tell of it.
import type { GateCall, GateDecision } from "./permissions/gate.ts";
import { hookInput, type Services } from "./services.ts";

/** What is asked for. */
export interface PermissionTargetName {
  targetType: "tool" | "agent";
  targetName: string;
}

/** Never rejects. */
export async function permitted(
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
          ...(always === undefined ? {} : { always }),
        });
        const input = { callId, toolName: call.tool, toolInput: prompt.input, decision: "ask" };
        return hooks.dispatch(hookInput(services, "PermissionRequest", input), signal);
      },
    },
    signal,
  );
  const { by, reason } = verdict;
  if (verdict.allowed) emit({ type: "permission.granted", ...target, by, always: verdict.always });
  else emit({ type: "permission.denied", ...target, by, ...(reason === undefined ? {} : { reason }) });
  return verdict;
}

/** Told to whoever wanted it. */
export function denial({ by, reason }: Pick<GateDecision, "by" | "reason">): string {
  const why = reason === undefined ? "" : `: ${reason}`;
  if (by === "user")
    return `The user denied this${why}. Do not try it again in another way; ask, or go on without it.`;
  if (by === "nobody")
    return `This needs a person's consent, and nobody can be asked here${why}. Do not try it in another way; go on without it.`;
  return `Denied by policy${why}. Do not try it again in another way.`;
}
