// One ACP session: sends updates to the client, asks for permission, stores messages, and runs one prompt at a time.

import { randomUUID } from "node:crypto";
import type {
  AgentContext,
  ClientCapabilities,
  ContentBlock,
  PromptResponse,
  SessionUpdate,
} from "@agentclientprotocol/sdk";
import { toMessage } from "../../base/coded-error.ts";
import { defined } from "../../base/values.ts";
import { formatContextReport } from "../context/report-text.ts";
import type { SessionRecord } from "../conversations/record.ts";
import { checkName, makeTitle } from "../conversations/title.ts";
import type { RuntimeEvent } from "../events.ts";
import { formatJobEnd } from "../jobs/jobs.ts";
import { answerMcpCommand } from "../mcp/report.ts";
import type { PermissionAnswer, PermissionPrompt } from "../permissions/types.ts";
import { expandPrompt } from "../prompts.ts";
import type { DemianSession, Runtime, SessionOrder, TurnReport } from "../session-types.ts";
import { toPromptResponse } from "./answer.ts";
import { askForm, buildPermissionRequest, readPermissionAnswer } from "./ask.ts";
import { isFromSubAgent } from "./children.ts";
import { type Choices, listChoices } from "./choices.ts";
import {
  AVAILABLE_COMMANDS,
  COMPACT,
  CONTEXT,
  MCP,
  NAME,
  readArguments,
  toAvailableCommands,
  USE_PLAN,
} from "./commands.ts";
import { promptRunningError, toRequestError } from "./errors.ts";
import { NOTICE, supportsNotification } from "./extensions.ts";
import { Outbound } from "./outbound.ts";
import { type PromptInput, parsePrompt } from "./prompt.ts";
import { replay } from "./replay.ts";
import { Translator } from "./translate.ts";
import { toWellFormed } from "./well-formed.ts";

export interface AcpSessionOptions {
  id: string;
  /** As sent by the client; paths in updates start with it. */
  cwd: string;
  runtime: Runtime;
  client: AgentContext;
  capabilities: ClientCapabilities;
  /** For problems that cannot be sent to the client. */
  warn(message: string): void;
  /** Undefined if it could not be created; then the session cannot be resumed. */
  record: SessionRecord | undefined;
  choice: Pick<
    SessionOrder,
    | "agent"
    | "provider"
    | "model"
    | "effort"
    | "history"
    | "yes"
    | "dryRun"
    | "env"
    | "transcript"
    | "mcpServers"
  >;
}

type Change = Parameters<DemianSession["use"]>[0];

const LIVE_MS = 100;

export class AcpSession {
  readonly #options: AcpSessionOptions;
  readonly #outbound: Outbound;
  readonly #translator: Translator;
  readonly #session: DemianSession;
  readonly #earlyEvents: RuntimeEvent[];
  #turn: { abort: AbortController; done: Promise<unknown> } | undefined;
  #changing: Promise<void> = Promise.resolve();
  #liveTimer: NodeJS.Timeout | undefined;
  #hasPlan = false;
  /** As sent last. */
  #commands = "";
  #closing: Promise<void> | undefined;

  /** Rejects with the runtime's error (no key, unknown agent). */
  static async open(options: AcpSessionOptions): Promise<AcpSession> {
    const { id, client } = options;
    const outbound = new Outbound((outgoing) =>
      outgoing.method === "session/update"
        ? client.notify("session/update", { sessionId: id, update: toWellFormed(outgoing.update) })
        : supportsNotification(options.capabilities, outgoing.method)
          ? client.notify(outgoing.method, { sessionId: id, ...toWellFormed(outgoing.params) })
          : Promise.resolve(),
    );
    const translator = new Translator({
      cwd: options.cwd,
      tools: options.runtime.tools,
      newId: randomUUID,
      costUsd: options.record?.meta.costUsd,
    });
    // Events are held back until the client knows the session.
    const early: RuntimeEvent[] = [];
    let opened: AcpSession | undefined;
    const session = await options.runtime.openSession({
      ...options.choice,
      sessionId: id,
      ask: (prompt, signal) =>
        opened === undefined ? Promise.resolve({ decision: "deny" }) : opened.#ask(prompt, signal),
      ...(options.capabilities.elicitation?.form && {
        question: async (question, signal) => {
          await outbound.drain();
          return askForm(client, id, question, signal);
        },
      }),
      onEvent: (event) => {
        if (opened === undefined) early.push(event);
        else opened.#emit(event);
      },
      onMessage: (message) => options.record?.append(message),
      onHistory: (history) => options.record?.rewrite(history),
    });
    opened = new AcpSession(options, session, outbound, translator, early);
    options.record?.update({ agent: session.agent, provider: session.provider, model: session.model });
    return opened;
  }

  private constructor(
    options: AcpSessionOptions,
    session: DemianSession,
    outbound: Outbound,
    translator: Translator,
    early: RuntimeEvent[],
  ) {
    this.#earlyEvents = early;
    this.#options = options;
    this.#session = session;
    this.#outbound = outbound;
    this.#translator = translator;
  }

  get isBusy(): boolean {
    return this.#turn !== undefined;
  }

  get runtime(): Runtime {
    return this.#options.runtime;
  }

  get sandbox(): string {
    return this.#session.sandbox;
  }

  choices(): Choices {
    return listChoices(this.#options.runtime, this.#session);
  }

  prompt(blocks: readonly ContentBlock[], signal: AbortSignal): Promise<PromptResponse> {
    if (this.#turn !== undefined) throw promptRunningError("send the next one");
    const input = parsePrompt(blocks, this.#options.runtime.config.multimodal);
    const abort = new AbortController();
    const stop = () => abort.abort();
    signal.addEventListener("abort", stop, { once: true });
    const done = this.#runTurn(input, abort.signal).finally(() => {
      signal.removeEventListener("abort", stop);
      this.#turn = undefined;
    });
    this.#turn = { abort, done };
    return done;
  }

  /** Adds a message to the running prompt. Resolves once it is part of it, or will not be. */
  async steer(blocks: readonly ContentBlock[]): Promise<{ outcome: "taken" | "returned" }> {
    if (this.#turn === undefined) return { outcome: "returned" };
    const outcome = await this.#session.steer(parsePrompt(blocks, this.#options.runtime.config.multimodal));
    await this.#outbound.drain();
    return { outcome };
  }

  /** Ends the running prompt, if any. */
  cancel(): void {
    this.#turn?.abort.abort();
  }

  /** Between prompts only. Resolves when the updates are written. */
  async change(change: Change): Promise<void> {
    if (this.#turn !== undefined) throw promptRunningError("change this");
    const changing = this.#changing.then(() => this.#session.use(change));
    // A prompt that arrives meanwhile waits for the change, even if it fails.
    this.#changing = changing.catch(() => undefined);
    await changing;
    const { agent, provider, model } = this.#session;
    this.#options.record?.update({ agent, provider, model });
    this.#push({ sessionUpdate: "current_mode_update", currentModeId: agent });
    this.#push({ sessionUpdate: "config_option_update", configOptions: this.choices().configOptions });
    await this.#outbound.drain();
  }

  /** Sends the history; resolves when it is written. */
  async replay(): Promise<void> {
    const updates = replay(this.#session.history, {
      cwd: this.#options.cwd,
      tools: this.#options.runtime.tools,
      newId: randomUUID,
      reserve: (callId) => this.#translator.reserve(callId),
    });
    for (const update of updates) this.#push(update);
    await this.#outbound.drain();
  }

  notice(message: string, severity: "info" | "warning" = "warning"): void {
    if (this.#options.capabilities.session?.notices) {
      this.#push({ sessionUpdate: "notice", severity, title: message });
      return;
    }
    if (supportsNotification(this.#options.capabilities, NOTICE))
      this.#outbound.push({ method: NOTICE, params: { severity, message } });
    else this.#options.warn(message);
  }

  /**
   * Sends what waits until the client knows the session. Handlers answer within microtasks, so this follows the response
   * of the running one.
   */
  sendInitial(notices: readonly string[]): void {
    setImmediate(() => {
      this.#sendCommands();
      for (const event of this.#earlyEvents) this.#emit(event);
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
      await this.#outbound.drain();
      this.#options.record?.close();
    }
  }

  async #runTurn(input: PromptInput, signal: AbortSignal): Promise<PromptResponse> {
    await this.#changing;
    const command = input.parts.length === 0 ? input.text.trim() : "";
    if (command === COMPACT) return this.#compact();
    if (command === CONTEXT)
      return this.#reply(`\`\`\`text\n${formatContextReport(this.#session.context())}\n\`\`\``);
    const mcpWord = input.parts.length === 0 ? readArguments(input.text, MCP) : undefined;
    if (mcpWord !== undefined) return this.#reply(await this.#describeMcp(mcpWord));
    const name = readArguments(command, NAME);
    if (name !== undefined) return this.#rename(name);
    this.#setTitle(input.text);
    const planText = readArguments(input.text, USE_PLAN);
    let report: TurnReport;
    try {
      const own = { ...input, text: expandPrompt(this.runtime.commands, input.text) ?? input.text };
      const turn = planText === undefined ? own : { ...input, text: planText, usePlan: true };
      report = await this.#session.run({ ...turn, signal });
    } catch (error) {
      throw toRequestError(error);
    } finally {
      await this.#settle();
    }
    const { record } = this.#options;
    record?.update({ turns: (record.meta.turns ?? 0) + 1 });
    return toPromptResponse(report, signal.aborted);
  }

  /** Before the response: ends all tool calls, completes the record, and writes everything. */
  async #settle(): Promise<void> {
    clearTimeout(this.#liveTimer);
    this.#liveTimer = undefined;
    for (const outgoing of this.#translator.closeOpen("Not finished: the turn ended.")) {
      this.#outbound.push(outgoing);
    }
    if (this.#session.plan !== undefined && !this.#hasPlan) this.#sendCommands();
    const { record } = this.#options;
    if (record?.isFaulty) record.rewrite(this.#session.history);
    const { costUsd } = this.#translator;
    record?.update(defined({ costUsd }));
    await this.#outbound.drain();
  }

  async #compact(): Promise<PromptResponse> {
    const report = this.#session.compact();
    const text =
      report === undefined
        ? "There is not enough to compact yet."
        : `Compacted ${report.dropped} messages into a summary: about ${report.beforeTokens} tokens, now ${report.afterTokens}.`;
    return this.#reply(text);
  }

  async #describeMcp(word: string): Promise<string> {
    const text = await answerMcpCommand(this.#session, word).catch(toMessage);
    return `\`\`\`text\n${text}\n\`\`\``;
  }

  async #rename(text: string): Promise<PromptResponse> {
    const { record } = this.#options;
    if (record === undefined) return this.#reply("This session is not stored, so it cannot be named.");
    const before = record.meta.name ?? record.meta.title;
    if (text === "") return this.#reply(before === undefined ? "It has no name." : `Its name is ${before}.`);
    const name = checkName(text);
    record.update({ name });
    this.#push({ sessionUpdate: "session_info_update", title: name, updatedAt: record.meta.updatedAt });
    return this.#reply(`Named ${name}.`);
  }

  /** To a command that does not reach the model. */
  async #reply(text: string): Promise<PromptResponse> {
    this.#push({
      sessionUpdate: "agent_message_chunk",
      content: { type: "text", text },
      messageId: randomUUID(),
    });
    await this.#settle();
    return { stopReason: "end_turn" };
  }

  #setTitle(text: string): void {
    const { record } = this.#options;
    if (record === undefined || record.meta.title !== undefined) return;
    const title = makeTitle(text);
    record.update({ title });
    this.#push({ sessionUpdate: "session_info_update", title, updatedAt: record.meta.updatedAt });
  }

  /** /use-plan is listed once there is a plan. */
  #sendCommands(): void {
    this.#hasPlan = this.#session.plan !== undefined;
    const own = AVAILABLE_COMMANDS.filter(({ name }) => this.#hasPlan || `/${name}` !== USE_PLAN);
    const prompts = (this.#session.mcp?.commands() ?? []).map(({ name, description, hint }) => ({
      name,
      description,
      ...(hint !== undefined && { input: { hint } }),
    }));
    const availableCommands = [...own, ...toAvailableCommands(this.runtime.commands), ...prompts];
    const text = JSON.stringify(availableCommands);
    if (text === this.#commands) return;
    this.#commands = text;
    this.#push({ sessionUpdate: "available_commands_update", availableCommands });
  }

  #emit(event: RuntimeEvent): void {
    if (event.type === "mcp.changed") this.#sendCommands();
    for (const outgoing of this.#translator.translate(event)) this.#outbound.push(outgoing);
    if (this.#translator.isWaiting) this.#liveTimer ??= this.#scheduleLive();
    const { compaction } = this.#options.capabilities.session ?? {};
    if (event.type === "job.ended") this.notice(formatJobEnd(event), "info");
    if (event.type === "context.compacted" && compaction && !isFromSubAgent(event)) {
      this.#push({ sessionUpdate: "compaction_update", compactionId: randomUUID(), status: "completed" });
    }
  }

  #scheduleLive(): NodeJS.Timeout {
    return setTimeout(() => {
      this.#liveTimer = undefined;
      for (const outgoing of this.#translator.live()) this.#outbound.push(outgoing);
    }, LIVE_MS);
  }

  #push(update: SessionUpdate): void {
    this.#outbound.push({ method: "session/update", update });
  }

  async #ask(prompt: PermissionPrompt, signal: AbortSignal): Promise<PermissionAnswer> {
    const { id, cwd, client, runtime } = this.#options;
    const toolCallId = this.#translator.wireId(prompt.callId);
    const parentToolCallId = this.#translator.findParent(prompt.callId);
    const view = { sessionId: id, cwd, tools: runtime.tools, toolCallId, parentToolCallId };
    // The client must know the call before it is asked about it.
    await this.#outbound.drain();
    if (signal.aborted) return { decision: "deny", reason: "the prompt was cancelled", stop: true };
    try {
      const response: unknown = await client.request(
        "session/request_permission",
        toWellFormed(buildPermissionRequest(prompt, view)),
        { cancellationSignal: signal, stopWaitingOnCancel: true },
      );
      return readPermissionAnswer(response, prompt.always !== undefined);
    } catch (error) {
      if (signal.aborted) return { decision: "deny", reason: "the prompt was cancelled", stop: true };
      return { decision: "deny", reason: `the client failed to ask: ${toMessage(error)}` };
    }
  }
}
