// Driver for a session in this process: a runtime session (agent.ts) on the session core (local-session.ts), with
// commands and pickers to change its settings.

import { basename } from "node:path";
import { CodedError, toMessage } from "../../../base/coded-error.ts";
import { defined } from "../../../base/values.ts";
import { type Batches, createBatches } from "../../../client/view/batches.ts";
import type { ChangesPort } from "../../../client/view/change-source.ts";
import type { Answer, RequestRow, ViewInput } from "../../../client/view/types.ts";
import type { UndoBody, UndoReply } from "../../../protocol/changes.ts";
import { formatContextReport } from "../../../runtime/context/report-text.ts";
import { answerMcpCommand } from "../../../runtime/mcp/report.ts";
import type { UserContentPart } from "../../../runtime/messages.ts";
import type { DemianSession, Runtime, TurnReport } from "../../../runtime/session-types.ts";
import type { Env } from "../../../runtime/state-dir.ts";
import type { Delivery, DriverCommand, Picker, SessionDriver } from "../../../tui/types.ts";
import { Attachments } from "../attachments.ts";
import { createCommands, createOwnCommands, formatCompactReport } from "../chat-actions.ts";
import { readTyped } from "../chat-commands.ts";
import { Choices, PICKER_KEYS } from "../choices.ts";
import { type Conversation, describeContinued, renameConversation } from "../conversation.ts";
import { runJobsCommand } from "../jobs-text.ts";
import { isGood } from "../once.ts";
import type { Order } from "../order.ts";
import { CARRY_OUT, explainNoPlan, explainPlan } from "../plan-messages.ts";
import type { Kept } from "../prepare.ts";
import { formatPlace, formatSettings, type Settings, toSessionChoice } from "../settings.ts";
import { describeTeam, formatSubAgents } from "../sub-agents.ts";
import { Thoughts } from "../thoughts.ts";
import { formatUndo, noteUndo } from "../undo-text.ts";
import { type Extras, LocalAgent } from "./agent.ts";
import { buildCheckpointPlace } from "./checkpoints.ts";
import { createFileSearch } from "./find-files.ts";
import { LocalSession } from "./local-session.ts";
import { suggestProviders } from "./provider-hints.ts";
import { replayHistory } from "./replay.ts";
import { BACKEND } from "./translate.ts";
import { UserShell } from "./user-shell.ts";

export interface LocalDriverOptions {
  runtime: Runtime;
  settings: Settings;
  order: Order;
  conversation: Conversation;
  /** Attached to the first message. */
  parts: readonly UserContentPart[];
  /** Shown at the start. */
  warnings: readonly string[];
  /** The user's environment. */
  env: Env;
  /** Saves settings that worked. */
  onChosen(settings: Settings): Promise<Kept | undefined>;
}

export class LocalDriver implements SessionDriver {
  readonly session_id: string;
  readonly title: string;
  readonly requestFocus = "modal";
  readonly endsWithScreen = true;
  readonly commands: readonly DriverCommand[];
  readonly findFiles: NonNullable<SessionDriver["findFiles"]>;
  readonly #options: LocalDriverOptions;
  readonly #agent: LocalAgent;
  readonly #thoughts = new Thoughts();
  readonly #local: LocalSession;
  readonly #choices: Choices;
  readonly #attachments: Attachments;
  #inputs: Batches<ViewInput> | undefined;
  #ready: Promise<void> | undefined;
  #session: DemianSession | undefined;
  #opening: Promise<DemianSession> | undefined;
  #extras: Extras;
  /** Messages on their way to the queue. */
  #sending = 0;
  #report: TurnReport | undefined;
  readonly #shell = new UserShell((level, text) => this.#say(level, text));
  #remembered: Settings | undefined;
  #remembering: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: LocalDriverOptions) {
    const { runtime, settings, parts, conversation } = options;
    this.#options = options;
    this.session_id = conversation.id;
    this.#extras = parts.length === 0 ? {} : { parts };
    this.#attachments = new Attachments(runtime, options.env);
    this.findFiles = createFileSearch(runtime.cwd);
    const { name } = conversation;
    this.title = [BACKEND, basename(runtime.cwd), ...(name === undefined ? [] : [name])].join(" · ");
    this.#agent = new LocalAgent({
      session: () => this.#openOnce(),
      takeExtras: () => {
        const extras = this.#extras;
        this.#extras = {};
        return extras;
      },
      onReport: (report) => {
        this.#report = report;
        if (this.#session !== undefined) conversation.endTurn(this.#session, report);
      },
    });
    this.#local = new LocalSession({
      session_id: this.session_id,
      backend: this.#agent.backend,
      name: this.title,
      cwd: runtime.cwd,
      checkpoints: buildCheckpointPlace(runtime.cwd, options.env),
      push: (input) => this.#inputs?.push([input]),
      onResult: () => {
        this.#remembering = this.#turnEnded();
      },
    });
    this.#choices = new Choices({
      runtime,
      settings,
      session: async () => this.#opening?.catch(() => undefined),
      open: async () => void (await this.#openOnce()),
      assertStandby: () => this.#assertStandby(),
      onChosen: (text) => {
        this.#introduce();
        this.#say("info", text);
      },
    });
    const commands = createCommands({
      choices: this.#choices,
      say: (text) => this.#say("info", text),
      thinking: () => this.#thoughts.format(),
      agents: () => formatSubAgents(runtime, this.#choices.main).join("\n"),
      stop: () => this.interrupt(),
      compact: () => this.#compact(),
      jobs: (word) => runJobsCommand(this.#session, word),
      undo: (order) => this.#undo(order),
      attach: (path) => this.#attachNext(path),
      rename: async (name) => renameConversation(conversation, name),
      context: async () => formatContextReport((await this.#openOnce()).context()),
      mcp: async (word) => answerMcpCommand(await this.#openOnce(), word),
      usePlan: (text) => this.#usePlan(text),
    });
    this.commands = [
      ...commands,
      ...createOwnCommands(runtime.commands, async (text) => void (await this.#send(text, {}))),
    ];
  }

  /** The transcript is not empty. */
  get hasTalked(): boolean {
    return (this.#session?.history.length ?? 0) > 0;
  }

  /** None while a task is running: their keys are ordinary letters then. */
  get pickers(): readonly Picker[] {
    return this.#isBusy ? [] : this.#choices.pickers;
  }

  attach(path: string | undefined): Promise<string> {
    return this.#attachments.add(path);
  }

  get changes(): ChangesPort {
    const { list, file } = this.#local.changes;
    return { list, file, undo: (order) => this.#undoTurns(order) };
  }

  start(listener: (inputs: readonly ViewInput[]) => void): void {
    const { runtime, warnings } = this.#options;
    this.#inputs = createBatches(listener, (inputs) => inputs);
    this.#inputs.push([{ kind: "link", state: "live" }]);
    this.#ready = this.#local.open().then(() => this.#introduce());
    this.#replay();
    this.#say("info", `${this.settings().join(" · ")}\n${PICKER_KEYS}`);
    this.#options.conversation.onProblem((problem) => this.#say("warn", problem));
    for (const warning of warnings) this.#say("warn", warning);
    if (runtime.config.agentMode === "multi-agent") {
      this.#say("info", `multi-agent: ${describeTeam(runtime, this.#choices.main)}`);
    }
    // Open at once, so that hooks and errors show before the first message.
    void this.#openOnce().catch((error: unknown) => {
      if (this.#closing !== undefined) return;
      this.#say("error", [toMessage(error), ...suggestProviders(runtime.providers)].join("\n"));
    });
  }

  async send(text: string, how: Delivery = "queue"): Promise<string | undefined> {
    const typed = readTyped(text);
    if (typed.kind === "empty") return undefined;
    if (typed.kind === "unknown") throw new CodedError("unknown_command", typed.message);
    if (typed.kind === "shell") {
      await this.#runShell(typed.command);
      return undefined;
    }
    return this.#send(typed.kind === "message" ? typed.text : text.trim(), { how });
  }

  /** Also clears the queue, as in the plain chat. */
  async interrupt(): Promise<void> {
    if (this.#shell.stop()) return;
    if (!this.#isBusy) {
      this.#say("info", "no task is running");
      return;
    }
    const dropped = await this.#local.clearQueue();
    if (dropped > 0) {
      const what =
        dropped === 1
          ? "a queued message was not sent; press Up to recall it"
          : `${dropped} queued messages were not sent; press Up to recall them`;
      this.#say("info", what);
    }
    await this.#local.interrupt();
  }

  respond(request: RequestRow, answer: Answer): Promise<void> {
    return this.#local.respond(request, answer);
  }

  wholeRequest(request: RequestRow): Promise<RequestRow> {
    return Promise.resolve(request);
  }

  cancelQueued(message_id: string): Promise<void> {
    return this.#local.cancelQueued(message_id);
  }

  /** There is no stored history. */
  loadEarlier(): Promise<boolean> {
    return Promise.resolve(false);
  }

  settings(): readonly string[] {
    const { runtime, order } = this.#options;
    const words = [...formatSettings(this.#choices.settings), ...formatPlace(runtime, order)];
    return this.#session?.sandbox === "none" ? [...words, "commands are refused"] : words;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#ready;
    this.#shell.stop();
    await this.#local.clearQueue();
    const session = await this.#opening?.catch(() => undefined);
    await session?.close();
    await this.#local.close();
    await this.#remembering;
    this.#inputs?.close();
  }

  /** Opens the runtime session once. After a failure, the next choice or message tries again. */
  async #openOnce(): Promise<DemianSession> {
    this.#opening ??= this.#open();
    try {
      this.#session = await this.#opening;
      return this.#session;
    } catch (error) {
      this.#opening = undefined;
      throw error;
    }
  }

  async #open(): Promise<DemianSession> {
    const { runtime, order, conversation } = this.#options;
    await this.#ready;
    const session = await runtime.openSession({
      ...conversation.order,
      ...toSessionChoice(this.#choices.settings),
      yes: order.yes,
      dryRun: order.dryRun,
      ...defined({ transcript: order.transcript }),
      ask: (prompt, signal) => this.#agent.permission(prompt, signal),
      question: (question, signal) => this.#agent.question(question, signal),
      onEvent: (event) => {
        this.#thoughts.see(event);
        this.#agent.see(event);
      },
    });
    if (session.sandbox === "none") {
      this.#say("warn", "commands are refused because no sandbox works here; run `demian doctor`");
    }
    return session;
  }

  async #send(
    text: string,
    { how = "queue", ...extras }: Extras & { how?: Delivery },
  ): Promise<string | undefined> {
    if (this.#closing !== undefined) throw new CodedError("session_closed", "the session is closed");
    if (this.#choices.lacksModel) {
      throw new CodedError("no_model", "no model selected; press m with an empty line, or use /model NAME");
    }
    this.#sending += 1;
    try {
      await this.#openOnce();
      await this.#ready;
      await this.#shell.idle();
      if (this.#session !== undefined) this.#options.conversation.begin(text, this.#session);
      const before = this.#extras;
      const parts = [...(before.parts ?? []), ...this.#attachments.take(text)];
      this.#extras = { ...before, ...extras, ...(parts.length === 0 ? {} : { parts }) };
      return await this.#local.send(text, how).catch((error: unknown) => {
        // They belong to this message, which was not queued.
        this.#extras = before;
        throw error;
      });
    } finally {
      this.#sending -= 1;
    }
  }

  /** The earlier messages of a conversation that continues. */
  #replay(): void {
    const { conversation } = this.#options;
    if (conversation.before === undefined) return;
    const { events, omitted } = replayHistory(conversation.history);
    if (omitted > 0) this.#say("info", `${omitted} earlier messages are not shown; the model has them`);
    const { session_id } = this;
    this.#inputs?.push(
      events.map((event) => ({ kind: "frame", seq: null, frame: { ...event, session_id } })),
    );
    this.#say("info", describeContinued(conversation));
  }

  async #turnEnded(): Promise<void> {
    const report = this.#report;
    this.#report = undefined;
    if (report === undefined) return;
    if (report.plan !== undefined) this.#say("info", explainPlan("p"));
    const { settings } = this.#choices;
    if (this.#remembered === settings || !isGood(report)) return;
    this.#remembered = settings;
    const kept = await this.#options.onChosen(settings);
    if (kept !== undefined) this.#say(kept.isKept ? "info" : "warn", kept.text);
  }

  /** Returns at once: the screen shows the output when the command has ended. */
  async #runShell(command: string): Promise<void> {
    this.#assertStandby();
    const session = await this.#openOnce();
    this.#assertStandby();
    this.#shell.run(session, command);
  }

  /** Without a label in the composer. */
  async #attachNext(path: string | undefined): Promise<string> {
    const label = await this.#attachments.add(path);
    const parts = [...(this.#extras.parts ?? []), ...this.#attachments.take(label)];
    this.#extras = { ...this.#extras, parts };
    return label;
  }

  async #undo(order: { force?: boolean }): Promise<string> {
    this.#assertStandby();
    return formatUndo(await this.#undoTurns(order));
  }

  /** The model is informed with the next message. */
  async #undoTurns(order: UndoBody): Promise<UndoReply> {
    const reply = await this.#local.changes.undo({ ...order, files_only: true });
    if (reply.done) this.#session?.addNote(noteUndo(reply));
    return reply;
  }

  async #compact(): Promise<string> {
    this.#assertStandby();
    const session = await this.#openOnce();
    this.#assertStandby();
    return formatCompactReport(session.compact());
  }

  async #usePlan(text: string): Promise<void> {
    this.#assertStandby();
    if (this.#session?.plan === undefined) {
      throw new CodedError("no_plan", explainNoPlan("press p"));
    }
    await this.#send(text === "" ? CARRY_OUT : text, { usePlan: true });
  }

  get #isBusy(): boolean {
    return this.#sending > 0 || this.#local.isBusy || this.#shell.isRunning;
  }

  #assertStandby(): void {
    if (!this.#isBusy) return;
    throw new CodedError("session_busy", "a task is running; /stop stops it, /exit exits");
  }

  #introduce(): void {
    this.#agent.introduce(this.#choices.settings, this.#options.runtime.cwd);
  }

  #say(level: "info" | "warn" | "error", text: string): void {
    this.#inputs?.push([{ kind: "local", level, text, at_ms: Date.now() }]);
  }
}
