// One ACP session: a session of the runtime, and its client. It tells what happens, asks for permission, keeps the
// messages, and runs one prompt at a time.
import { randomUUID } from "node:crypto";
import type {
  AgentContext,
  ClientCapabilities,
  ContentBlock,
  PromptResponse,
  SessionUpdate,
} from "@agentclientprotocol/sdk";
import { messageOf } from "../../base/coded-error.ts";
import type { RuntimeEvent } from "../events.ts";
import type { PermissionAnswer, PermissionPrompt } from "../permissions/types.ts";
import type { DemianSession, Runtime, SessionOrder, TurnReport } from "../session-types.ts";
import { isAnnounced, NOTICE } from "./announced.ts";
import { promptAnswer, sessionTitle } from "./answer.ts";
import { askForm, permissionAnswer, permissionRequest } from "./ask.ts";
import { isOfChild } from "./children.ts";
import { type Choices, choicesOf } from "./choices.ts";
import { AVAILABLE_COMMANDS, COMPACT, USE_PLAN, wordsOf } from "./commands.ts";
import { promptRunning, toRequestError } from "./errors.ts";
import { Outbound } from "./outbound.ts";
import { type PromptInput, promptInput } from "./prompt.ts";
import type { SessionRecord } from "./record.ts";
import { replay } from "./replay.ts";
import { Translator } from "./translate.ts";
import { wellFormed } from "./well-formed.ts";

export interface AcpSessionOrder {
  id: string;
  /** As the client wrote it: the paths that it is told begin with it. */
  cwd: string;
  runtime: Runtime;
  client: AgentContext;
  capabilities: ClientCapabilities;
  /** For what the client has no way to be told. */
  warn(message: string): void;
  /** Undefined: it could not be made, and the session cannot be resumed. */
  record: SessionRecord | undefined;
  choice: Pick<
    SessionOrder,
    "agent" | "provider" | "model" | "history" | "yes" | "dryRun" | "env" | "transcript"
  >;
}

type Change = Parameters<DemianSession["use"]>[0];

const LIVE_MS = 100;

export class AcpSession {
  readonly #order: AcpSessionOrder;
  readonly #outbound: Outbound;
  readonly #translator: Translator;
  readonly #session: DemianSession;
  readonly #early: RuntimeEvent[];
  #turn: { abort: AbortController; done: Promise<unknown> } | undefined;
  #changing: Promise<void> = Promise.resolve();
  #liveTimer: NodeJS.Timeout | undefined;
  #hasPlan = false;
  #closing: Promise<void> | undefined;

  /** Rejects with what the runtime says (no key, unknown agent). */
  static async open(order: AcpSessionOrder): Promise<AcpSession> {
    const { id, client } = order;
    const outbound = new Outbound((outgoing) =>
      outgoing.method === "session/update"
        ? client.notify("session/update", { sessionId: id, update: wellFormed(outgoing.update) })
        : isAnnounced(order.capabilities, outgoing.method)
          ? client.notify(outgoing.method, { sessionId: id, ...wellFormed(outgoing.params) })
          : Promise.resolve(),
    );
    const translator = new Translator({
      cwd: order.cwd,
      tools: order.runtime.tools,
      newId: randomUUID,
      costUsd: order.record?.meta.costUsd,
    });
    // What happens while it opens is kept until the client knows the session.
    const early: RuntimeEvent[] = [];
    let opened: AcpSession | undefined;
    const session = await order.runtime.openSession({
      ...order.choice,
      sessionId: id,
      ask: (prompt, signal) =>
        opened === undefined ? Promise.resolve({ decision: "deny" }) : opened.#ask(prompt, signal),
      ...(order.capabilities.elicitation?.form && {
        question: async (question, signal) => {
          await outbound.drained();
          return askForm(client, id, question, signal);
        },
      }),
      onEvent: (event) => {
        if (opened === undefined) early.push(event);
        else opened.#tell(event);
      },
      onMessage: (message) => order.record?.append(message),
      onHistory: (history) => order.record?.rewrite(history),
    });
    opened = new AcpSession(order, session, outbound, translator, early);
    order.record?.update({ agent: session.agent, provider: session.provider, model: session.model });
    return opened;
  }

  private constructor(
    order: AcpSessionOrder,
    session: DemianSession,
    outbound: Outbound,
    translator: Translator,
    early: RuntimeEvent[],
  ) {
    this.#early = early;
    this.#order = order;
    this.#session = session;
    this.#outbound = outbound;
    this.#translator = translator;
  }

  get isBusy(): boolean {
    return this.#turn !== undefined;
  }

  get runtime(): Runtime {
    return this.#order.runtime;
  }

  get sandbox(): string {
    return this.#session.sandbox;
  }

  choices(): Choices {
    return choicesOf(this.#order.runtime, this.#session);
  }

  prompt(blocks: readonly ContentBlock[], signal: AbortSignal): Promise<PromptResponse> {
    if (this.#turn !== undefined) throw promptRunning("send the next one");
    const input = promptInput(blocks, this.#order.runtime.config.multimodal);
    const abort = new AbortController();
    const stop = () => abort.abort();
    signal.addEventListener("abort", stop, { once: true });
    const done = this.#turnOf(input, abort.signal).finally(() => {
      signal.removeEventListener("abort", stop);
      this.#turn = undefined;
    });
    this.#turn = { abort, done };
    return done;
  }

  /** Ends the running prompt; without one nothing happens. */
  cancel(): void {
    this.#turn?.abort.abort();
  }

  /** Between prompts only. Resolves when the client has been told. */
  async change(change: Change): Promise<void> {
    if (this.#turn !== undefined) throw promptRunning("change this");
    const changing = this.#changing.then(() => this.#session.use(change));
    // A prompt that comes meanwhile waits for it, also when it fails.
    this.#changing = changing.catch(() => undefined);
    await changing;
    const { agent, provider, model } = this.#session;
    this.#order.record?.update({ agent, provider, model });
    this.#push({ sessionUpdate: "current_mode_update", currentModeId: agent });
    this.#push({ sessionUpdate: "config_option_update", configOptions: this.choices().configOptions });
    await this.#outbound.drained();
  }

  /** Tells everything that was said; resolves when it is written. */
  async replay(): Promise<void> {
    const updates = replay(this.#session.history, {
      cwd: this.#order.cwd,
      tools: this.#order.runtime.tools,
      newId: randomUUID,
      reserve: (callId) => this.#translator.reserve(callId),
    });
    for (const update of updates) this.#push(update);
    await this.#outbound.drained();
  }

  notice(message: string): void {
    if (this.#order.capabilities.session?.notices) {
      this.#push({ sessionUpdate: "notice", severity: "warning", title: message });
      return;
    }
    if (isAnnounced(this.#order.capabilities, NOTICE))
      this.#outbound.push({ method: NOTICE, params: { severity: "warning", message } });
    else this.#order.warn(message);
  }

  /**
   * What is said once the client knows the session. Handlers answer within microtasks, so this comes behind the answer
   * of the one that is running.
   */
  greet(notices: readonly string[]): void {
    setImmediate(() => {
      this.#tellCommands();
      for (const event of this.#early) this.#tell(event);
      for (const notice of notices) this.notice(notice);
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.cancel();
    await this.#turn?.done.catch(() => undefined);
    try {
      await this.#session.close();
    } finally {
      clearTimeout(this.#liveTimer);
      await this.#outbound.drained();
      this.#order.record?.close();
    }
  }

  async #turnOf(input: PromptInput, signal: AbortSignal): Promise<PromptResponse> {
    await this.#changing;
    if (input.parts.length === 0 && input.text.trim() === COMPACT) return this.#compact();
    this.#nameAfter(input.text);
    const words = wordsOf(input.text, USE_PLAN);
    let report: TurnReport;
    try {
      const turn = words === undefined ? input : { ...input, text: words, usePlan: true };
      report = await this.#session.run({ ...turn, signal });
    } catch (error) {
      throw toRequestError(error);
    } finally {
      await this.#settle();
    }
    return promptAnswer(report, signal.aborted);
  }

  /** Before the answer: every tool has its end, everything is written, and the record is whole. */
  async #settle(): Promise<void> {
    clearTimeout(this.#liveTimer);
    this.#liveTimer = undefined;
    for (const outgoing of this.#translator.closeOpen("Not finished: the turn ended.")) {
      this.#outbound.push(outgoing);
    }
    if (this.#session.plan !== undefined && !this.#hasPlan) this.#tellCommands();
    const { record } = this.#order;
    if (record?.isFaulty) record.rewrite(this.#session.history);
    const { costUsd } = this.#translator;
    record?.update(costUsd === undefined ? {} : { costUsd });
    await this.#outbound.drained();
  }

  async #compact(): Promise<PromptResponse> {
    const report = this.#session.compact();
    const text =
      report === undefined
        ? "There is too little to compact yet."
        : `Compacted: ${report.dropped} messages became a summary, about ${report.beforeTokens} tokens became ${report.afterTokens}.`;
    this.#push({
      sessionUpdate: "agent_message_chunk",
      content: { type: "text", text },
      messageId: randomUUID(),
    });
    await this.#settle();
    return { stopReason: "end_turn" };
  }

  #nameAfter(text: string): void {
    const { record } = this.#order;
    if (record === undefined || record.meta.title !== undefined) return;
    const title = sessionTitle(text);
    record.update({ title });
    this.#push({ sessionUpdate: "session_info_update", title, updatedAt: record.meta.updatedAt });
  }

  /** A plan can be carried out once there is one. */
  #tellCommands(): void {
    this.#hasPlan = this.#session.plan !== undefined;
    const availableCommands = AVAILABLE_COMMANDS.filter(
      ({ name }) => this.#hasPlan || `/${name}` !== USE_PLAN,
    );
    this.#push({ sessionUpdate: "available_commands_update", availableCommands });
  }

  #tell(event: RuntimeEvent): void {
    for (const outgoing of this.#translator.translate(event)) this.#outbound.push(outgoing);
    if (this.#translator.isWaiting) this.#liveTimer ??= this.#tellSoon();
    const { compaction } = this.#order.capabilities.session ?? {};
    if (event.type === "context.compacted" && compaction && !isOfChild(event)) {
      this.#push({ sessionUpdate: "compaction_update", compactionId: randomUUID(), status: "completed" });
    }
  }

  #tellSoon(): NodeJS.Timeout {
    return setTimeout(() => {
      this.#liveTimer = undefined;
      for (const outgoing of this.#translator.live()) this.#outbound.push(outgoing);
    }, LIVE_MS);
  }

  #push(update: SessionUpdate): void {
    this.#outbound.push({ method: "session/update", update });
  }

  async #ask(prompt: PermissionPrompt, signal: AbortSignal): Promise<PermissionAnswer> {
    const { id, cwd, client, runtime } = this.#order;
    const toolCallId = this.#translator.wireId(prompt.callId);
    const parentToolCallId = this.#translator.parentOf(prompt.callId);
    const view = { sessionId: id, cwd, tools: runtime.tools, toolCallId, parentToolCallId };
    // The client must have heard of the call before it is asked about it.
    await this.#outbound.drained();
    if (signal.aborted) return { decision: "deny", reason: "the prompt was cancelled", stop: true };
    try {
      const response: unknown = await client.request(
        "session/request_permission",
        wellFormed(permissionRequest(prompt, view)),
        { cancellationSignal: signal, stopWaitingOnCancel: true },
      );
      return permissionAnswer(response, prompt.always !== undefined);
    } catch (error) {
      if (signal.aborted) return { decision: "deny", reason: "the prompt was cancelled", stop: true };
      return { decision: "deny", reason: `the client could not ask: ${messageOf(error)}` };
    }
  }
}
