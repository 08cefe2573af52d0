// Runs one task of a sub-agent: its own bounded session, under the services of the root. Never rejects; aborted, failed
// and refused are results too.
import { randomUUID } from "node:crypto";
import { toMessage } from "../../base/coded-error.ts";
import { buildSystemPrompt } from "../agents/system-prompt.ts";
import { estimateText } from "../context/estimate.ts";
import type { EventBody, InvocationFields } from "../events.ts";
import { execute } from "../execution.ts";
import { collectIntroduction } from "../introduction.ts";
import { isExternal } from "../providers/types.ts";
import type { Sandbox } from "../sandbox/types.ts";
import type { Services } from "../services.ts";
import type { TurnReport } from "../session-types.ts";
import type { ToolResult } from "../tools/types.ts";
import { createUsage } from "../usage.ts";
import { renderCatalog } from "./catalog.ts";
import { createDelegateTool } from "./delegate-tool.ts";
import type { Delegation } from "./delegation.ts";
import { createSubAgentPolicy, renderMemory } from "./memory.ts";
import { compactResult } from "./result.ts";
import type { AgentSession } from "./sessions.ts";
import type { AgentInvocationInput, Caller, PlannedInvocation } from "./types.ts";

const PREVIEW_CHARS = 200;
/** Where tools save long output (tools/output.ts). */
const KEPT_OUTPUT = /^\.demian\/tmp\/output-[\w-]+\.txt$/;

export class Invocation {
  readonly #delegation: Delegation;
  readonly #caller: Caller;
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
    this.#caller = caller;
    this.#planned = planned;
    this.#call = call;
    this.#path = [...caller.path, agent.name];
    this.#session = delegation.sessions.obtain({
      rootSessionId: sessionId,
      agent: agent.name,
      profile: provider.key,
      model: provider.model,
      cwd: workspace.root,
      callers: caller.path.slice(1),
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
    const { agent, provider, handoff } = this.#planned;
    for (const name of [...(input.contextRefs ?? []), ...(input.relevantFiles ?? [])])
      if (this.#isInHandoff(name)) this.#allowReading(name);
    this.#emit({
      type: "agent.invocation.started",
      ...this.#about,
      provider: provider.key,
      model: provider.model,
      depth: this.#path.length - 1,
      handoffTokens: estimateText(handoff),
    });
    let report: TurnReport;
    try {
      const services = await this.#createServices();
      this.#emit({
        type: "agent.invocation.tool_policy.applied",
        ...this.#about,
        tools: services.tools.map(({ name }) => name),
      });
      const message = { role: "user", content: handoff } as const;
      report = await execute(services, message, this.#session.modelMemory, this.#call.signal);
    } catch (error) {
      report = { outcome: "failed", text: "", turns: 0, usage: createUsage(), message: toMessage(error) };
    }
    this.#remember(input, report);
    return this.#conclude(input, report, agent.name);
  }

  get #about(): { callId: string; targetAgent: string } {
    return { callId: this.#call.callId, targetAgent: this.#planned.agent.name };
  }

  async #createServices(): Promise<Services> {
    const { parts } = this.#delegation;
    const { agent, provider, maxTurns } = this.#planned;
    const { delegator: _delegator, jobs: _jobs, takeNotes: _notes, ...root } = parts.root();
    const { ownFiles } = this.#session;
    const { invocationId } = this.#who;
    const caller: Caller = { invocationId, agent, provider, path: this.#path, ownFiles };
    const callables = this.#delegation.listCallables(caller);
    const delegate = callables.length === 0 ? [] : [createDelegateTool(callables)];
    const emit = (event: EventBody) => this.#emit(event);
    const services: Services = {
      ...root,
      agent,
      provider,
      systemPrompt: "",
      // An external agent has its own.
      tools: isExternal(provider) ? [] : [...parts.toolsOf(agent), ...delegate],
      history: this.#session.history,
      limits: { maxTurns, context: createSubAgentPolicy(parts.config.context) },
      invocation: this.#who,
      subAgent: { mainAgent: this.#path[0] ?? "", ownFiles },
      sandbox: wrapSandbox(root.sandbox),
      hooks: parts.hooks(emit),
      // The user could not tell its questions from the main agent's.
      question: undefined,
      emit,
      ...(callables.length === 0 ? {} : { delegator: this.#delegation.createDelegator(caller, emit) }),
    };
    const names = services.tools.map(({ name }) => name).join();
    const envInfo = await this.#session.introduce(names, () =>
      collectIntroduction(services, this.#call.signal),
    );
    const catalog = renderCatalog(callables);
    const memory = renderMemory(this.#session.memory, parts.config.context.subAgent.summaryTargetTokens);
    return {
      ...services,
      systemPrompt: buildSystemPrompt(agent, { isSubAgent: true, memory, catalog, envInfo }),
    };
  }

  /** Also after a failure: the next task continues from here. */
  #remember(input: AgentInvocationInput, report: TurnReport): void {
    const { context } = this.#delegation.parts.config;
    const { compacted, memory } = this.#session.remember(
      { task: input.task, answer: report.text, ts: Date.now() },
      context.subAgent,
    );
    if (compacted !== undefined)
      this.#emit({ type: "agent.session.context_compacted", ...this.#about, ...compacted });
    this.#emit({ type: "agent.session.memory_updated", ...this.#about, ...memory });
  }

  async #conclude(input: AgentInvocationInput, report: TurnReport, name: string): Promise<ToolResult> {
    const { outcome, text, turns, usage } = report;
    const spent = { turns, usage, durationMs: Date.now() - this.#startedMs };
    // A task that finished before it could be stopped counts as done.
    const isCancelled = outcome === "aborted" || (outcome !== "completed" && this.#call.signal.aborted);
    const why = report.message ?? outcome;
    const isDone = outcome === "completed" || outcome === "max_turns" || outcome === "max_tokens";
    const head = outcome === "completed" ? "" : `The agent ${name} ${describeEnd(isCancelled, why)}.`;
    const { content, ...kept } = isCancelled ? { content: head } : await this.#result(input, text, head);
    if (isCancelled)
      this.#emit({ type: "agent.invocation.cancelled", ...this.#about, reason: why, ...spent });
    else if (!isDone || (outcome !== "completed" && text === ""))
      this.#emit({ type: "agent.invocation.failed", ...this.#about, reason: why, ...spent });
    else {
      const preview = text.slice(0, PREVIEW_CHARS);
      const resultTokens = estimateText(content);
      this.#emit({ type: "agent.invocation.completed", ...this.#about, preview, resultTokens, ...spent });
    }
    const { agentSessionId, invocationId } = this.#who;
    return {
      ok: isDone && !isCancelled && (outcome === "completed" || text !== ""),
      content,
      metadata: { agent: name, agentSessionId, invocationId, outcome, turns, ...kept },
      usage,
      ...(outcome === "denied" ? { stop: true as const } : {}),
    };
  }

  async #result(
    input: AgentInvocationInput,
    text: string,
    head: string,
  ): Promise<{ content: string; outputFile?: string }> {
    const { parts } = this.#delegation;
    const { context } = parts.config;
    const answer = [head, text.trim()].filter((part) => part !== "").join("\n\n");
    const maxTokens = Math.min(context.subAgent.maxResultTokensToMain, context.main.maxDelegateResultTokens);
    let outputFile: string | undefined;
    const content = await compactResult({
      answer,
      returnMode: input.returnMode,
      maxTokens,
      refs: {
        // A sub-agent may not read its transcript.
        transcriptPath: this.#caller.ownFiles === undefined ? parts.transcriptPath : undefined,
        invocationId: this.#who.invocationId,
      },
      keep: async (whole) => {
        outputFile = await parts.root().keepOutput(this.#call.callId, whole);
        return outputFile;
      },
    });
    return outputFile === undefined ? { content } : { content, outputFile };
  }

  /** A caller cannot pass on files it may not read, nor files the user was not shown. */
  #isInHandoff(file: string): boolean {
    return this.#planned.handoff.includes(file) && (this.#caller.ownFiles?.has(file) ?? true);
  }

  #allowReading(file: string): void {
    if (KEPT_OUTPUT.test(file)) this.#session.ownFiles.add(file);
  }

  #emit(event: EventBody): void {
    const isDone = event.type === "tool.completed" || event.type === "tool.failed";
    if (isDone && event.metadata?.outputFile !== undefined) this.#allowReading(event.metadata.outputFile);
    this.#delegation.parts.emit(event, { ...this.#who, agent: this.#planned.agent.name });
  }
}

function describeEnd(isCancelled: boolean, why: string): string {
  return isCancelled ? "was stopped before it finished" : `did not finish: ${why}`;
}

function wrapSandbox(sandbox: Sandbox): Sandbox {
  return { ...sandbox, run: (order) => sandbox.run({ ...order, isOfSubAgent: true }) };
}
