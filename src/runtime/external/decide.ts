// Whether an agent with tools of its own may use one of them: its call as our gate understands it, and the gate's word.
import type { Decision } from "../permissions/types.ts";
import { denial, permitted } from "../permitted.ts";
import type { ExternalProvider } from "../providers/types.ts";
import type { Services } from "../services.ts";
import { type ClaudeCategory, planClaudeTool } from "./claude-code/tools.ts";
import type { ExternalCall, ExternalDecision, ExternalDefault } from "./types.ts";

export type ExternalServices = Services & { readonly provider: ExternalProvider };

const HARMLESS: ReadonlySet<ClaudeCategory> = new Set(["read", "inner"]);
const STRICTNESS: Readonly<Record<Decision, number>> = { allow: 0, ask: 1, deny: 2 };

/** Never rejects. */
export async function decideExternal(
  services: ExternalServices,
  call: ExternalCall,
  signal: AbortSignal,
): Promise<ExternalDecision> {
  const { agent, provider, workspace, invocation } = services;
  const { executor, defaultDecision } = provider.external;
  const { category, input, ...plan } = await planClaudeTool(call, workspace);
  if (services.dryRun && !HARMLESS.has(category)) {
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
      agent: {
        ...agent,
        defaultDecision: stricter(agent.defaultDecision, byDefault(defaultDecision, category)),
      },
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

function byDefault(decision: ExternalDefault, category: ClaudeCategory): Decision {
  if (decision !== "by-category") return decision;
  return HARMLESS.has(category) ? "allow" : "ask";
}

function stricter(agents: Decision | undefined, providers: Decision): Decision {
  return agents !== undefined && STRICTNESS[agents] > STRICTNESS[providers] ? agents : providers;
}
