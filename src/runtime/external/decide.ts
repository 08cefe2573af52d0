// Whether an agent with tools of its own may use one of them: its call as our gate understands it, and the gate's word.
import type { Decision } from "../permissions/types.ts";
import { denial, permitted } from "../permitted.ts";
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
      reason: `Dry run: this would have been done now: ${plan.title}. Go on as if it were.`,
    };
  }
  const agentPath = [...(invocation.agentPath ?? []), ...(call.agentPath ?? [])];
  const verdict = await permitted(
    services,
    {
      tool: call.tool,
      input,
      plan,
      agent,
      toolDefault: byDefault(defaultDecision, isHarmless),
      callId: call.callId,
      ...(agentPath.length === 0 ? {} : { agentPath }),
      executor,
      // None of ours.
      sandbox: "off",
      ...(call.reason === undefined ? {} : { reason: call.reason }),
    },
    { targetType: "tool", targetName: `${executor}.${call.tool}` },
    signal,
  );
  const { title, changes } = plan;
  if (verdict.allowed) {
    return { allowed: true, input, shown: { title, ...(changes === undefined ? {} : { changes }) } };
  }
  return { allowed: false, reason: denial(verdict), ...(verdict.stop === true ? { stop: true } : {}) };
}

function byDefault(decision: ExternalDefault, isHarmless: boolean): Decision {
  if (decision !== "by-category") return decision;
  return isHarmless ? "allow" : "ask";
}
