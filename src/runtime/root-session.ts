// One conversation and all authority in it: its history, its agent and provider, permissions, transcript, and at most one
// turn at a time.
import { CodedError } from "../base/coded-error.ts";
import { compactHistory } from "./context/compact.ts";
import type { EventBody, RuntimeEvent } from "./events.ts";
import { execute } from "./execution.ts";
import type { Message, UserMessage } from "./messages.ts";
import type { ModelMemory } from "./model-request.ts";
import { hookInput, type Services } from "./services.ts";
import type { CompactReport, DemianSession, TurnInput, TurnReport } from "./session-types.ts";
import type { TranscriptWriter } from "./transcript.ts";

/** Beyond it old turns are folded for good: what nobody is shown any more is not kept for ever. */
const MAX_HISTORY_CHARS = 32 * 1024 * 1024;

/** What may change between turns. */
export type Choice = Pick<Services, "agent" | "provider" | "systemPrompt" | "tools">;

export interface SessionParts {
  /** All but what a choice brings and `emit`. */
  fixed: Omit<Services, keyof Choice | "emit" | "hooks"> & {
    hooks(emit: (event: EventBody) => void): Services["hooks"];
  };
  /** Throws with what is wrong. */
  choose(change: { agent?: string; provider?: string; model?: string }, now?: Choice): Promise<Choice>;
  first: Choice;
  transcript(onProblem: (message: string) => void): TranscriptWriter | undefined;
  onEvent(event: RuntimeEvent): void;
  /** For people; it may grow while the session runs. */
  warnings: readonly string[];
  /** Frees what only this session holds. */
  release(): Promise<void>;
}

export class RootSession implements DemianSession {
  readonly #parts: SessionParts;
  readonly #hooks: Services["hooks"];
  readonly #memory: ModelMemory = { folded: 0 };
  readonly #transcript: TranscriptWriter | undefined;
  #warned = 0;
  #choice: Choice;
  #running: { abort: AbortController; done: Promise<unknown> } | undefined;
  #closing: Promise<void> | undefined;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.#choice = parts.first;
    this.#hooks = parts.fixed.hooks((event) => this.#emit(event));
    this.#transcript = parts.transcript((message) => this.#tell({ type: "warning", message }));
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

  get sandbox(): string {
    return this.#parts.fixed.sandbox.adapter ?? "none";
  }

  get plan(): string | undefined {
    return undefined;
  }

  get history(): readonly Message[] {
    return this.#parts.fixed.history.messages;
  }

  /** Before the first turn. A hook that blocks the session's start ends it. */
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
    await this.#introduce();
  }

  run(input: TurnInput): Promise<TurnReport> {
    if (this.#closing !== undefined) return Promise.reject(closed());
    if (this.#running !== undefined) return Promise.reject(busy());
    const abort = new AbortController();
    const { signal } = input;
    const stop = () => abort.abort();
    if (signal?.aborted) abort.abort();
    signal?.addEventListener("abort", stop, { once: true });
    const done = this.#turn(input, abort.signal).finally(() => {
      signal?.removeEventListener("abort", stop);
      this.#running = undefined;
      this.#warn();
    });
    this.#running = { abort, done };
    return done;
  }

  async #turn(input: TurnInput, signal: AbortSignal): Promise<TurnReport> {
    // Not before `run` has returned: whoever hears of the first event can abort the turn already.
    await Promise.resolve();
    if (this.#parts.fixed.history.chars > MAX_HISTORY_CHARS) this.#compact(false);
    return execute(this.#services(), messageOf(input), this.#memory, signal);
  }

  async abort(): Promise<void> {
    const running = this.#running;
    running?.abort.abort();
    await running?.done.catch(() => undefined);
  }

  compact(): CompactReport | undefined {
    if (this.#running !== undefined) throw busy();
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

  async use(change: { agent?: string; provider?: string; model?: string }): Promise<void> {
    if (this.#running !== undefined) throw busy();
    const before = this.#choice;
    const choice = await this.#parts.choose(change, before);
    if (this.#running !== undefined) throw busy();
    this.#choice = choice;
    // What the hooks said about the session names the agent and the model.
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
    const input = hookInput(this.#services(), "SessionEnd", { reason: "closed" });
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
    const services = this.#services();
    const { sandbox, tools } = services;
    const input = hookInput(services, "SessionStart", {
      tools: tools.map(({ name }) => name),
      sandbox: { mode: sandbox.mode, ...(sandbox.adapter === undefined ? {} : { adapter: sandbox.adapter }) },
    });
    const outcome = await this.#hooks.dispatch(input, new AbortController().signal);
    if (outcome.blocked) {
      throw new CodedError(
        "blocked",
        `a hook blocks the session: ${outcome.reason ?? "no reason given"}; change the hook, or the session's settings`,
      );
    }
    const patch = outcome.patch as { system?: unknown } | undefined;
    if (typeof patch?.system !== "string") return;
    this.#choice = { ...this.#choice, systemPrompt: `${this.#choice.systemPrompt}\n\n${patch.system}` };
  }

  #services(): Services {
    return {
      ...this.#parts.fixed,
      ...this.#choice,
      hooks: this.#hooks,
      emit: (event) => this.#emit(event),
    };
  }

  #emit(event: EventBody): void {
    const told = this.#tell(event);
    this.#transcript?.write(told);
  }

  #tell(event: EventBody): RuntimeEvent {
    const told = { ...event, sessionId: this.id, agent: this.agent, ts: Date.now() };
    this.#parts.onEvent(told);
    return told;
  }
}

function messageOf({ text, parts = [] }: TurnInput): UserMessage {
  if (parts.length === 0) return { role: "user", content: text };
  const words = text === "" ? [] : [{ type: "text" as const, text }];
  return { role: "user", content: [...words, ...parts] };
}

function busy(): CodedError {
  return new CodedError("session_busy", "a turn is running; wait for its end, or stop it");
}

function closed(): CodedError {
  return new CodedError("session_closed", "the session is closed; open a new one");
}
