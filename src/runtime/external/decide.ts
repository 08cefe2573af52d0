// Decides whether an agent with its own tools may use one of them, by the same gate as for ours.
import { defined } from "../../base/values.ts";
import type { Decision } from "../permissions/types.ts";
import { explainDenial, obtainPermission } from "../permitted.ts";
import type { ExternalProvider } from "../providers/types.ts";
import type { Services } from "../services.ts";
import type { ExternalCall, ExternalDecision, ExternalDefault } from "./types.ts";

export type ExternalServices = Services & { readonly provider: ExternalProvider };

/** Never rejects. */
export async function decideExternal(
  services: ExternalServices,
  call: ExternalCall,
  signal: AbortSignal,
): Promise<ExternalDecision> {
  const { agent, provider, workspace, invocation } = services;
  const { executor, defaultDecision } = provider.external;
  const { isHarmless, input, ...plan } = await provider.external.plan(call, workspace);
  if (services.dryRun && !isHarmless) {
    return {
      allowed: false,
      reason: `Dry run: not executed: ${plan.title}. Continue as if it had succeeded.`,
    };
  }
  const agentPath = [...(invocation.agentPath ?? []), ...(call.agentPath ?? [])];
  const verdict = await obtainPermission(
    services,
    {
      tool: call.tool,
      input,
      plan,
      agent,
      toolDefault: chooseDefault(defaultDecision, isHarmless),
      callId: call.callId,
      ...(agentPath.length === 0 ? {} : { agentPath }),
      executor,
      // It runs outside our sandbox.
      sandbox: "off",
      ...defined({ reason: call.reason }),
    },
    { targetType: "tool", targetName: `${executor}.${call.tool}` },
    signal,
  );
  const { title, changes } = plan;
  if (verdict.allowed) {
    return { allowed: true, input, shown: { title, ...defined({ changes }) } };
  }
  return { allowed: false, reason: explainDenial(verdict), ...(verdict.stop === true ? { stop: true } : {}) };
}

function chooseDefault(decision: ExternalDefault, isHarmless: boolean): Decision {
  if (decision !== "by-category") return decision;
  return isHarmless ? "allow" : "ask";
}
