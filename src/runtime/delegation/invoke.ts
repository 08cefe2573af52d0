// One task of a sub-agent, from its start to the short result that goes back: a session of its own, bounded, under the
// services of the root. It never rejects; aborted, failed and refused are results too.
import { randomUUID } from "node:crypto";
import { messageOf } from "../../base/coded-error.ts";
import { buildSystemPrompt } from "../agents/system-prompt.ts";
import { estimateText } from "../context/estimate.ts";
import type { EventBody, InvocationFields } from "../events.ts";
import { execute } from "../execution.ts";
import { introduced } from "../introduction.ts";
import type { Services } from "../services.ts";
import type { TurnReport } from "../session-types.ts";
import type { ToolDefinition, ToolResult } from "../tools/types.ts";
import { noUsage } from "../usage.ts";
import { catalogText } from "./catalog.ts";
import type { Delegation } from "./delegation.ts";
import { memoryText, subAgentPolicy } from "./memory.ts";
import { compactResult } from "./result.ts";
import type { AgentSession } from "./sessions.ts";
import { type AgentInvocationInput, type Caller, DELEGATE_TOOL, type PlannedInvocation } from "./types.ts";
import { callableFor } from "./validate.ts";

const PREVIEW_CHARS = 200;
/** Where tools keep what is too long (tools/output.ts). */
const KEPT_OUTPUT = /^\.demian\/tmp\/output-[\w-]+\.txt$/;

export class Invocation {
  readonly #delegation: Delegation;
  readonly #planned: PlannedInvocation;
  readonly #call: { callId: string; signal: AbortSignal };
  readonly #session: AgentSession;
  readonly #who: InvocationFields & { invocationId: string };
  readonly #path: readonly string[];
  readonly #startedMs = Date.now();

  constructor(
    delegation: Delegation,
    caller: Caller,
    planned: PlannedInvocation,
    call: { callId: string; signal: AbortSignal },
  ) {
    const { sessionId, workspace } = delegation.parts.root();
    const { agent, provider } = planned;
    this.#delegation = delegation;
    this.#planned = planned;
    this.#call = call;
    this.#path = [...caller.path, agent.name];
    this.#session = delegation.sessions.obtain({
      rootSessionId: sessionId,
      agent: agent.name,
      profile: provider.key,
      model: provider.model,
      cwd: workspace.root,
    });
    this.#who = {
      rootSessionId: sessionId,
      agentSessionId: this.#session.id,
      invocationId: `inv_${randomUUID()}`,
      parentInvocationId: caller.invocationId,
      parentCallId: call.callId,
      agentPath: this.#path.slice(1),
    };
  }

  async run(input: AgentInvocationInput): Promise<ToolResult> {
    for (const name of [...(input.contextRefs ?? []), ...(input.relevantFiles ?? [])]) this.#mayRead(name);
    const { agent, provider, handoff } = this.#planned;
    this.#tell({
      type: "agent.invocation.started",
      ...this.#about,
      provider: provider.key,
      model: provider.model,
      depth: this.#path.length - 1,
      handoffTokens: estimateText(handoff),
    });
    let report: TurnReport;
    try {
      const services = await this.#services();
      this.#tell({
        type: "agent.invocation.tool_policy.applied",
        ...this.#about,
        tools: services.tools.map(({ name }) => name),
      });
      const message = { role: "user", content: handoff } as const;
      report = await execute(services, message, this.#session.modelMemory, this.#call.signal);
    } catch (error) {
      report = { outcome: "failed", text: "", turns: 0, usage: noUsage(), message: messageOf(error) };
    }
    this.#remember(input, report);
    return this.#conclude(input, report, agent.name);
  }

  get #about(): { callId: string; targetAgent: string } {
    return { callId: this.#call.callId, targetAgent: this.#planned.agent.name };
  }

  async #services(): Promise<Services> {
    const { parts } = this.#delegation;
    const { agent, provider, maxTurns } = this.#planned;
    const { delegator: _, ...root } = parts.root();
    const caller: Caller = { invocationId: this.#who.invocationId, agent, provider, path: this.#path };
    const delegate = this.#delegation.toolFor(caller);
    const tools = [...parts.toolsOf(agent), ...(delegate === undefined ? [] : [delegate])];
    const emit = (event: EventBody) => this.#tell(event);
    const services: Services = {
      ...root,
      agent,
      provider,
      systemPrompt: this.#systemPrompt(caller, tools),
      tools,
      history: this.#session.history,
      limits: { maxTurns, context: subAgentPolicy(parts.config.context) },
      invocation: this.#who,
      subAgent: { mainAgent: this.#path[0] ?? "", ownFiles: this.#session.ownFiles },
      emit,
      ...(delegate === undefined ? {} : { delegator: this.#delegation.delegatorOf(caller, emit) }),
    };
    return { ...services, systemPrompt: await introduced(services, this.#call.signal) };
  }

  #systemPrompt(caller: Caller, tools: readonly ToolDefinition[]): string {
    const { config, agents } = this.#delegation.parts;
    const canDelegate = tools.some(({ name }) => name === DELEGATE_TOOL);
    const memory = memoryText(this.#session.memory, config.context.subAgent.summaryTargetTokens);
    return buildSystemPrompt(caller.agent, {
      isSubAgent: true,
      ...(memory === "" ? {} : { memory }),
      ...(canDelegate
        ? { catalog: catalogText(callableFor(caller, agents, config.delegation.maxDepth)) }
        : {}),
    });
  }

  /** Also of what failed or was cut short: the next task begins where this one ended. */
  #remember(input: AgentInvocationInput, report: TurnReport): void {
    const { context } = this.#delegation.parts.config;
    const { compacted, memory } = this.#session.remember(
      { task: input.task, answer: report.text, ts: Date.now() },
      context.subAgent,
    );
    if (compacted !== undefined)
      this.#tell({ type: "agent.session.context_compacted", ...this.#about, ...compacted });
    this.#tell({ type: "agent.session.memory_updated", ...this.#about, ...memory });
  }

  async #conclude(input: AgentInvocationInput, report: TurnReport, name: string): Promise<ToolResult> {
    const { outcome, text, turns, usage } = report;
    const spent = { turns, usage, durationMs: Date.now() - this.#startedMs };
    const isCancelled = outcome === "aborted" || this.#call.signal.aborted;
    const why = report.message ?? outcome;
    const isDone = outcome === "completed" || outcome === "max_turns" || outcome === "max_tokens";
    const head =
      isDone && outcome === "completed" ? undefined : `The agent ${name} ${endText(isCancelled, why)}.`;
    const content = isCancelled ? `${head}` : await this.#result(input, text, head);
    if (isCancelled)
      this.#tell({ type: "agent.invocation.cancelled", ...this.#about, reason: why, ...spent });
    else if (!isDone || (outcome !== "completed" && text === ""))
      this.#tell({ type: "agent.invocation.failed", ...this.#about, reason: why, ...spent });
    else {
      const preview = text.slice(0, PREVIEW_CHARS);
      const resultTokens = estimateText(content);
      this.#tell({ type: "agent.invocation.completed", ...this.#about, preview, resultTokens, ...spent });
    }
    const { agentSessionId, invocationId } = this.#who;
    return {
      ok: isDone && !isCancelled && (outcome === "completed" || text !== ""),
      content,
      metadata: { agent: name, agentSessionId, invocationId, outcome, turns },
      usage,
      ...(outcome === "denied" ? { stop: true as const } : {}),
    };
  }

  async #result(input: AgentInvocationInput, text: string, head: string | undefined): Promise<string> {
    const { parts } = this.#delegation;
    const { context } = parts.config;
    const answer = [head, text.trim()].filter((part) => part !== undefined && part !== "").join("\n\n");
    const maxTokens = Math.min(context.subAgent.maxResultTokensToMain, context.main.maxDelegateResultTokens);
    return compactResult({
      answer,
      returnMode: input.returnMode,
      maxTokens,
      refs: { transcriptPath: parts.transcriptPath, invocationId: this.#who.invocationId },
      keep: (whole) => parts.root().keepOutput(this.#call.callId, whole),
    });
  }

  #mayRead(file: string): void {
    if (KEPT_OUTPUT.test(file)) this.#session.ownFiles.add(file);
  }

  #tell(event: EventBody): void {
    const isDone = event.type === "tool.completed" || event.type === "tool.failed";
    if (isDone && event.metadata?.outputFile !== undefined) this.#mayRead(event.metadata.outputFile);
    this.#delegation.parts.emit(event, { ...this.#who, agent: this.#planned.agent.name });
  }
}

function endText(isCancelled: boolean, why: string): string {
  return isCancelled ? "was stopped before it was done" : `did not finish: ${why}`;
}
