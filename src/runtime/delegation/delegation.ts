// All delegation of one root session: who may be given what, and the sessions of the sub-agents. What it plans is what a
// person is asked about, and exactly that is then sent.
import { createHash } from "node:crypto";
import { messageOf } from "../../base/coded-error.ts";
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
import { callableFor, checkDelegation } from "./validate.ts";

export interface DelegationParts {
  config: DemianConfig;
  agents: AgentRegistry;
  /** What the agent sees, but for `delegate_agent`. */
  toolsOf(agent: AgentDefinition): ToolDefinition[];
  /** Throws `CodedError`. */
  provider(agent: AgentDefinition, root: ResolvedProvider): Promise<ResolvedProvider>;
  /** What all agents of the session share, with the main agent's own. */
  root(): Services;
  emit(event: EventBody, who: InvocationFields & { agent: string }): void;
  /** The session's hooks, telling of themselves with `emit`. */
  hooks(emit: Services["emit"]): Services["hooks"];
  /** Relative to the workspace; undefined: nothing is recorded. */
  transcriptPath: string | undefined;
}

/** The invocation of the main agent. */
export const MAIN = "main";

export function mainCaller({ agent, provider }: Pick<Caller, "agent" | "provider">): Caller {
  return { invocationId: MAIN, agent, provider, path: [agent.name] };
}

/** Empty: it may not delegate, or there is nobody. An agent with a loop of its own cannot call our tools. */
export function callablesOf(caller: Caller, agents: AgentRegistry, maxDepth: number): AgentDefinition[] {
  return isExternal(caller.provider) ? [] : callableFor(caller, agents, maxDepth);
}

export class Delegation {
  readonly parts: DelegationParts;
  readonly sessions: AgentSessionStore;

  constructor(parts: DelegationParts, callIds: Set<string>) {
    this.parts = parts;
    this.sessions = new AgentSessionStore(callIds);
  }

  callablesOf(caller: Caller): AgentDefinition[] {
    return callablesOf(caller, this.parts.agents, this.parts.config.delegation.maxDepth);
  }

  /** `emit`: of the caller. */
  delegatorOf(caller: Caller, emit: Services["emit"]): Delegator {
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
      throw new ToolError("provider_not_ready", `The agent ${agent.name} cannot work: ${messageOf(error)}`);
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
    const { scope, path = "the project", trusted } = agents.sourceOf(agent.name) ?? {};
    const isOfProject = scope === "project";
    const most = config.delegation.subInvocationMaxTurns;
    return {
      agent,
      provider,
      crossesProvider: provider.key !== caller.provider.key,
      handoff: handoff.text,
      receives: handoff.receives,
      maxTurns: Math.min(input.maxTurns ?? most, most),
      decision: decisionFor(agent, config, isOfProject),
      ...(isOfProject
        ? { origin: trusted === true ? path : `${path}, not trusted`, digest: digestOf(agent) }
        : {}),
    };
  }
}

function decisionFor(agent: AgentDefinition, config: DemianConfig, isOfProject: boolean): "allow" | "ask" {
  const said = agent.delegation?.invocationDecision;
  // What costs much or what somebody else wrote is asked about, unless you said otherwise about this very agent.
  const isCareful = isOfProject || agent.catalog?.cost === "expensive";
  const usual = config.delegation.defaultInvocationDecision;
  const decision = said ?? (isCareful && usual === "allow" ? "ask" : usual);
  if (decision !== "deny") return decision;
  const where = said === undefined ? "delegation.defaultInvocationDecision" : "its own invocationDecision";
  throw new ToolError(
    "delegation_denied",
    `The agent ${agent.name} may not be started: ${where} is "deny". Go on without it.`,
  );
}

function digestOf(agent: AgentDefinition): string {
  return createHash("sha256").update(JSON.stringify(agent)).digest("hex");
}
