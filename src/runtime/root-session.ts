// One conversation and all authority in it: history, agent, provider, permissions, transcript, and at most one turn at
// a time.
import { CodedError } from "../base/coded-error.ts";
import { joinParts, type PromptPart } from "./agents/system-prompt.ts";
import { compactHistory } from "./context/compact.ts";
import { describeContext } from "./context/report.ts";
import { createMainCaller, type Delegation, MAIN } from "./delegation/delegation.ts";
import type { EventBody, InvocationFields, RuntimeEvent } from "./events.ts";
import { execute } from "./execution.ts";
import { collectIntroduction } from "./introduction.ts";
import { formatReports, Jobs } from "./jobs/jobs.ts";
import type { McpHub } from "./mcp/hub.ts";
import { expandMessage } from "./mcp/message.ts";
import type { McpControl } from "./mcp/types.ts";
import type { Message, UserMessage } from "./messages.ts";
import type { ModelMemory } from "./model-request.ts";
import type { Effort } from "./providers/effort.ts";
import { isExternal } from "./providers/types.ts";
import { buildHookInput, type Services } from "./services.ts";
import type {
  CompactReport,
  ContextReport,
  DemianSession,
  SessionChange,
  TurnInput,
  TurnReport,
} from "./session-types.ts";
import { type SteerOutcome, Steers } from "./steers.ts";
import type { TranscriptWriter } from "./transcript.ts";
import {
  describeUserCommand,
  runUserCommand,
  type UserCommand,
  type UserCommandResult,
} from "./user-command.ts";
import { UserNotes } from "./user-notes.ts";

/** Above this size old turns are compacted for good, to bound memory. */
const MAX_HISTORY_CHARS = 32 * 1024 * 1024;

/** Can change between turns. */
export interface SessionChoice extends Pick<Services, "agent" | "provider" | "systemPrompt" | "tools"> {
  /** Chosen for the session; it also applies to the next provider. */
  effort?: Effort | undefined;
  /** Of the system prompt. */
  promptParts: readonly PromptPart[];
}

export interface SessionParts {
  /** Everything except the parts of a choice and `emit`. */
  fixed: Omit<
    Services,
    keyof SessionChoice | "emit" | "hooks" | "invocation" | "delegator" | "jobs" | "takeNotes" | "steers"
  > & {
    hooks(emit: (event: EventBody) => void): Services["hooks"];
  };
  /** Throws if the choice is not valid. */
  choose(change: SessionChange, now?: SessionChoice): Promise<SessionChoice>;
  first: SessionChoice;
  /** Closed by `release`. */
  mcp?: McpHub | undefined;
  /** Only in multi-agent mode. */
  delegation?(root: DelegationRoot): Delegation;
  transcript(onProblem: (message: string) => void): TranscriptWriter | undefined;
  onEvent(event: RuntimeEvent): void;
  /** For the user; may grow while the session runs. */
  warnings: readonly string[];
  /** Releases what only this session holds. */
  release(): Promise<void>;
}

/** Shared with the sub-agents of this session. */
export interface DelegationRoot {
  root(): Services;
  emit(event: EventBody, who: InvocationFields & { agent: string }): void;
  hooks(emit: Services["emit"]): Services["hooks"];
  transcriptPath: string | undefined;
}

export class RootSession implements DemianSession {
  readonly #parts: SessionParts;
  readonly #hooks: Services["hooks"];
  readonly #memory: ModelMemory = {};
  readonly #transcript: TranscriptWriter | undefined;
  readonly #delegation: Delegation | undefined;
  readonly #invocation: InvocationFields;
  readonly #steers = new Steers();
  readonly #notes = new UserNotes();
  readonly jobs: Jobs;
  #plan: string | undefined;
  #warned = 0;
  #choice: SessionChoice;
  #running: { abort: AbortController; done: Promise<unknown> } | undefined;
  #closing: Promise<void> | undefined;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.#choice = parts.first;
    this.#hooks = parts.fixed.hooks((event) => this.#emit(event));
    this.jobs = new Jobs(parts.fixed.sandbox, ({ id, command, end = "" }) =>
      this.#emit({ type: "job.ended", job: id, command, end }),
    );
    this.#transcript = parts.transcript((message) => this.#publish({ type: "warning", message }));
    this.#invocation =
      parts.delegation === undefined ? {} : { rootSessionId: parts.fixed.sessionId, invocationId: MAIN };
    this.#delegation = parts.delegation?.({
      root: () => this.#services(),
      emit: (event, who) => this.#emit(event, who),
      hooks: (emit) => parts.fixed.hooks(emit),
      transcriptPath: this.#transcript?.path,
    });
  }

  get id(): string {
    return this.#parts.fixed.sessionId;
  }

  get agent(): string {
    return this.#choice.agent.name;
  }

  get provider(): string {
    return this.#choice.provider.key;
  }

  get model(): string {
    return this.#choice.provider.model;
  }

  get effort(): Effort | undefined {
    return this.#choice.provider.effort;
  }

  get sandbox(): string {
    return this.#parts.fixed.sandbox.adapter ?? "none";
  }

  get plan(): string | undefined {
    return this.#plan;
  }

  get mcp(): McpControl | undefined {
    return this.#parts.mcp;
  }

  get history(): readonly Message[] {
    return this.#parts.fixed.history.messages;
  }

  /** Before the first turn. A hook that blocks the start closes the session. */
  async begin(resumed: boolean): Promise<void> {
    const { config, workspace, sandbox } = this.#parts.fixed;
    this.#emit({
      type: "session.started",
      agent: this.agent,
      provider: this.provider,
      model: this.model,
      cwd: workspace.root,
      mode: config.agentMode,
      sandbox: this.sandbox,
      ...(resumed ? { resumed } : {}),
    });
    if (sandbox.problem !== undefined) this.#emit({ type: "warning", message: sandbox.problem });
    this.#warn();
    this.#parts.mcp?.start({
      warn: (message) => this.#emit({ type: "warning", message }),
      changed: () => this.#publish({ type: "mcp.changed" }),
    });
    await this.#introduce();
  }

  run(input: TurnInput): Promise<TurnReport> {
    return this.#exclude(input.signal, (signal) => this.#turn(input, signal));
  }

  /** Runs one at a time: a turn, or a command of the user. */
  #exclude<T>(signal: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.#closing !== undefined) return Promise.reject(closedError());
    if (this.#running !== undefined) return Promise.reject(busyError());
    const abort = new AbortController();
    const stop = () => abort.abort();
    if (signal?.aborted) abort.abort();
    signal?.addEventListener("abort", stop, { once: true });
    const done = work(abort.signal).finally(() => {
      signal?.removeEventListener("abort", stop);
      this.#running = undefined;
      this.#steers.giveBack();
      this.#warn();
    });
    this.#running = { abort, done };
    return done;
  }

  async #turn(input: TurnInput, signal: AbortSignal): Promise<TurnReport> {
    // Deferred until `run` has returned: a listener of the first event may abort the turn.
    await Promise.resolve();
    if (this.#parts.fixed.history.chars > MAX_HISTORY_CHARS) this.#compact(false);
    const expanded = await this.#expand(input, signal);
    const report = await execute(
      this.#services(),
      toUserMessage(prependPlan(expanded, this.#plan)),
      this.#memory,
      signal,
    );
    if (report.plan !== undefined) this.#plan = report.plan;
    return report;
  }

  async steer(input: Pick<TurnInput, "text" | "parts">): Promise<SteerOutcome> {
    const isOurs = !isExternal(this.#choice.provider);
    return this.#running === undefined || !isOurs ? "returned" : this.#steers.add(toUserMessage(input));
  }

  async #expand(input: TurnInput, signal: AbortSignal): Promise<TurnInput> {
    const { mcp } = this.#parts;
    if (mcp === undefined || isExternal(this.#choice.provider)) return input;
    await mcp.settle(signal);
    return signal.aborted ? input : expandMessage(input, mcp, signal);
  }

  async abort(): Promise<void> {
    const running = this.#running;
    running?.abort.abort();
    await running?.done.catch(() => undefined);
  }

  compact(): CompactReport | undefined {
    if (this.#running !== undefined) throw busyError();
    return this.#compact(true);
  }

  #compact(manual: boolean): CompactReport | undefined {
    const { history, config } = this.#parts.fixed;
    const compacted = compactHistory(history.messages, config.context.main);
    if (compacted === undefined) return undefined;
    history.replace(compacted.history);
    this.#emit({ type: "context.compacted", ...compacted.report, manual });
    return compacted.report;
  }

  context(): ContextReport {
    return describeContext(this.#services(), this.#choice.promptParts, this.#memory);
  }

  /** Counts as a turn: none can start meanwhile, and `abort` ends it. */
  runCommand({ command, signal }: UserCommand): Promise<UserCommandResult> {
    return this.#exclude(signal, async (stopped) => {
      const order = { command, signal: stopped };
      const result = await runUserCommand(this.#services(), order);
      this.#notes.add(await describeUserCommand(this.#services(), order, result));
      return result;
    });
  }

  addNote(note: string): void {
    this.#notes.add(note);
  }

  async use(change: SessionChange): Promise<void> {
    if (this.#running !== undefined) throw busyError();
    const before = this.#choice;
    const choice = await this.#parts.choose(change, before);
    if (this.#running !== undefined) throw busyError();
    this.#choice = choice;
    // The introduction names the agent and the model, so it is made again.
    try {
      await this.#introduce();
    } catch (error) {
      this.#choice = before;
      throw error;
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.abort();
    await this.jobs.close();
    const input = buildHookInput(this.#services(), "SessionEnd", { reason: "closed" });
    await this.#hooks.dispatch(input, AbortSignal.timeout(10_000));
    this.#emit({ type: "session.ended", reason: "closed" });
    this.#transcript?.close();
    await this.#parts.release();
  }

  #warn(): void {
    for (const message of this.#parts.warnings.slice(this.#warned)) this.#emit({ type: "warning", message });
    this.#warned = this.#parts.warnings.length;
  }

  async #introduce(): Promise<void> {
    const said = await collectIntroduction(this.#services(), new AbortController().signal);
    const promptParts = [...this.#choice.promptParts, ...(said === "" ? [] : [{ text: said }])];
    this.#choice = { ...this.#choice, promptParts, systemPrompt: joinParts(promptParts) };
  }

  #services(): Services {
    const { agent, systemPrompt, tools } = this.#choice;
    const { mcp } = this.#parts;
    const services: Services = {
      ...this.#parts.fixed,
      ...this.#choice,
      systemPrompt: [systemPrompt, mcp?.instructions(agent) ?? ""].filter((part) => part !== "").join("\n\n"),
      tools: [...tools, ...(mcp?.tools(agent) ?? [])],
      invocation: this.#invocation,
      steers: this.#steers,
      hooks: this.#hooks,
      jobs: this.jobs,
      takeNotes: () => this.#takeNotes(),
      emit: (event) => this.#emit(event),
    };
    if (this.#delegation === undefined) return services;
    const delegator = this.#delegation.createDelegator(createMainCaller(this.#choice), services.emit);
    return { ...services, delegator };
  }

  #takeNotes(): string {
    const reports = formatReports(this.jobs.takeReports());
    return [reports, this.#notes.take()].filter((text) => text !== "").join("\n\n");
  }

  #emit(event: EventBody, who?: InvocationFields & { agent: string }): void {
    const stamped = this.#publish(event, who);
    if (event.type === "context.compacted") this.#parts.mcp?.markFolded();
    this.#transcript?.write(stamped);
  }

  #publish(event: EventBody, who: InvocationFields & { agent: string } = this.#self): RuntimeEvent {
    const stamped = { ...event, sessionId: this.id, ...who, ts: Date.now() };
    this.#parts.onEvent(stamped);
    return stamped;
  }

  get #self(): InvocationFields & { agent: string } {
    return { ...this.#invocation, agent: this.agent };
  }
}

/** The plan goes first; the request refers to it. */
function prependPlan(input: TurnInput, plan: string | undefined): TurnInput {
  if (input.usePlan !== true) return input;
  if (plan === undefined) {
    throw new CodedError(
      "no_plan",
      "there is no plan to use; ask a planning agent (claudecode-plan) for one first",
    );
  }
  const words = input.text.trim() === "" ? "Carry it out." : input.text;
  return { ...input, text: `This is the plan:\n\n${plan}\n\n${words}` };
}

function toUserMessage({ text, parts = [] }: TurnInput): UserMessage {
  if (parts.length === 0) return { role: "user", content: text };
  const words = text === "" ? [] : [{ type: "text" as const, text }];
  return { role: "user", content: [...words, ...parts] };
}

function busyError(): CodedError {
  return new CodedError("session_busy", "a turn is running; wait for it to end, or stop it");
}

function closedError(): CodedError {
  return new CodedError("session_closed", "the session is closed; open a new one");
}
