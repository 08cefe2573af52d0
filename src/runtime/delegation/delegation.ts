// All delegation of one root session: checks, plans, and the sessions of sub-agents. The user approves a plan, and
// exactly that plan is sent.
import { createHash } from "node:crypto";
import { toMessage } from "../../base/coded-error.ts";
import type { AgentRegistry } from "../agents/registry.ts";
import type { AgentDefinition } from "../agents/types.ts";
import type { DemianConfig } from "../config/schema.ts";
import type { EventBody, InvocationFields } from "../events.ts";
import { isExternal, type ResolvedProvider } from "../providers/types.ts";
import type { Services } from "../services.ts";
import { type ToolDefinition, ToolError } from "../tools/types.ts";
import { renderHandoff } from "./handoff.ts";
import { Invocation } from "./invoke.ts";
import { AgentSessionStore } from "./sessions.ts";
import type { AgentInvocationInput, Caller, Delegator, PlannedInvocation } from "./types.ts";
import { checkDelegation, listCallableFor } from "./validate.ts";

export interface DelegationParts {
  config: DemianConfig;
  agents: AgentRegistry;
  /** The agent's tools, except `delegate_agent`. */
  toolsOf(agent: AgentDefinition): ToolDefinition[];
  /** Throws `CodedError`. */
  provider(agent: AgentDefinition, root: ResolvedProvider): Promise<ResolvedProvider>;
  /** Services shared by all agents of the session, with the main agent's own. */
  root(): Services;
  emit(event: EventBody, who: InvocationFields & { agent: string }): void;
  /** The session's hooks, emitting their events through `emit`. */
  hooks(emit: Services["emit"]): Services["hooks"];
  /** Relative to the workspace; undefined: no transcript. */
  transcriptPath: string | undefined;
}

/** The invocation of the main agent. */
export const MAIN = "main";

export function createMainCaller({ agent, provider }: Pick<Caller, "agent" | "provider">): Caller {
  return { invocationId: MAIN, agent, provider, path: [agent.name] };
}

/** Empty: it may not delegate, or there are no sub-agents. An external agent cannot call our tools. */
export function listCallables(caller: Caller, agents: AgentRegistry, maxDepth: number): AgentDefinition[] {
  return isExternal(caller.provider) ? [] : listCallableFor(caller, agents, maxDepth);
}

export class Delegation {
  readonly parts: DelegationParts;
  readonly sessions: AgentSessionStore;

  constructor(parts: DelegationParts, callIds: Set<string>) {
    this.parts = parts;
    this.sessions = new AgentSessionStore(callIds);
  }

  listCallables(caller: Caller): AgentDefinition[] {
    return listCallables(caller, this.parts.agents, this.parts.config.delegation.maxDepth);
  }

  /** `emit`: the caller's. */
  createDelegator(caller: Caller, emit: Services["emit"]): Delegator {
    return {
      plan: (input, { callId }) => {
        emit({ type: "agent.invocation.requested", callId, targetAgent: input.agent, task: input.task });
        return this.#plan(caller, input);
      },
      run: (input, planned, call) => new Invocation(this, caller, planned, call).run(input),
    };
  }

  async #plan(caller: Caller, input: AgentInvocationInput): Promise<PlannedInvocation> {
    const { config, agents } = this.parts;
    const agent = checkDelegation({
      caller,
      targetName: input.agent,
      agents,
      maxDepth: config.delegation.maxDepth,
    });
    const services = this.parts.root();
    const provider = await this.parts.provider(agent, services.provider).catch((error: unknown) => {
      throw new ToolError("provider_not_ready", `The agent ${agent.name} cannot run: ${toMessage(error)}`);
    });
    const handoff = renderHandoff(
      {
        parentAgent: caller.agent.name,
        childAgent: agent.name,
        cwd: services.workspace.root,
        currentUserRequest: services.history.request,
        delegation: input,
      },
      config.context.subAgent,
    );
    const { scope, path = "the project", trusted } = agents.getSource(agent.name) ?? {};
    const isOfProject = scope === "project";
    const most = config.delegation.subInvocationMaxTurns;
    return {
      agent,
      provider,
      crossesProvider: provider.key !== caller.provider.key,
      handoff: handoff.text,
      receives: handoff.receives,
      maxTurns: Math.min(input.maxTurns ?? most, most),
      decision: decide(agent, config, isOfProject),
      ...(isOfProject
        ? { origin: trusted === true ? path : `${path}, not trusted`, digest: hashAgent(agent) }
        : {}),
    };
  }
}

function decide(agent: AgentDefinition, config: DemianConfig, isOfProject: boolean): "allow" | "ask" {
  const said = agent.delegation?.invocationDecision;
  // Expensive agents and those of a project need approval, unless their own setting says otherwise.
  const isCareful = isOfProject || agent.catalog?.cost === "expensive";
  const usual = config.delegation.defaultInvocationDecision;
  const decision = said ?? (isCareful && usual === "allow" ? "ask" : usual);
  if (decision !== "deny") return decision;
  const where = said === undefined ? "delegation.defaultInvocationDecision" : "its own invocationDecision";
  throw new ToolError(
    "delegation_denied",
    `The agent ${agent.name} may not be started: ${where} is "deny". Continue without it.`,
  );
}

function hashAgent(agent: AgentDefinition): string {
  return createHash("sha256").update(JSON.stringify(agent)).digest("hex");
}
