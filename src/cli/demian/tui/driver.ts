// A runtime in this process for the session screen: messages one after the other, what is asked and what is told, and
// every way to stop. It draws nothing.
import { randomUUID } from "node:crypto";
import { basename } from "node:path";
import { CodedError, messageOf } from "../../../base/coded-error.ts";
import type { Answer, RequestRow, ViewInput } from "../../../client/view/types.ts";
import type { UserContentPart } from "../../../runtime/messages.ts";
import type { DemianSession, Runtime, TurnReport } from "../../../runtime/session-types.ts";
import type { DriverCommand, Picker, SessionDriver } from "../../../tui/types.ts";
import { readTyped } from "../chat-commands.ts";
import { isGood } from "../once.ts";
import type { Order } from "../order.ts";
import { CARRY_OUT, noPlan, planMade } from "../plan-words.ts";
import type { Kept } from "../prepare.ts";
import { chosenOf, placeWords, type Settings, settingsWords } from "../settings.ts";
import { subAgentLines, teamLine } from "../sub-agents.ts";
import { Asking } from "./asking.ts";
import { Choices, PICKER_KEYS } from "./choices.ts";
import { commandsOf, compactBlock } from "./commands.ts";
import { BACKEND } from "./event-frames.ts";
import { Feed } from "./feed.ts";
import { Queue } from "./queue.ts";
import { waysOut } from "./ways-out.ts";

export interface LocalDriverOptions {
  runtime: Runtime;
  settings: Settings;
  order: Order;
  /** For the first message. */
  parts: readonly UserContentPart[];
  /** Said before anything else. */
  warnings: readonly string[];
  /** A choice that worked is remembered. */
  onChosen(settings: Settings): Promise<Kept | undefined>;
}

interface Work {
  text: string;
  usePlan?: true;
}

export class LocalDriver implements SessionDriver {
  readonly session_id = `ses_${randomUUID()}`;
  readonly title: string;
  readonly requestFocus = "modal";
  readonly endsWithScreen = true;
  readonly commands: readonly DriverCommand[];
  readonly #options: LocalDriverOptions;
  readonly #feed: Feed;
  readonly #queue = new Queue();
  readonly #asking: Asking;
  readonly #choices: Choices;
  #session: DemianSession | undefined;
  #opening: Promise<DemianSession> | undefined;
  #parts: readonly UserContentPart[];
  /** What works, until it has ended; the next message waits for it. */
  #work: Promise<void> | undefined;
  #remembered: Settings | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: LocalDriverOptions) {
    const { runtime, settings, parts } = options;
    this.#options = options;
    this.#parts = parts;
    this.title = `${BACKEND} · ${basename(runtime.cwd)}`;
    this.#feed = new Feed(this.session_id, () => ({
      cwd: runtime.cwd,
      model: this.#choices.settings.model.value,
      queued: this.#queue.messages.length,
      waiting: this.#asking.waiting,
    }));
    this.#asking = new Asking({
      session_id: this.session_id,
      nameOf: (callId) => this.#feed.nameOf(callId),
      onChange: (row) => this.#feed.request(row),
    });
    this.#choices = new Choices({
      runtime,
      settings,
      session: async () => this.#opening?.catch(() => undefined),
      open: async () => void (await this.#opened()),
      assertStandby: () => this.#assertStandby(),
      onChosen: (text) => {
        this.#feed.introduce(this.#choices.settings);
        this.#feed.say("info", text);
      },
    });
    this.commands = commandsOf({
      choices: this.#choices,
      say: (text) => this.#feed.say("info", text),
      agents: () => subAgentLines(runtime, this.#choices.main).join("\n"),
      stop: () => this.interrupt(),
      compact: () => this.#compact(),
      usePlan: (text) => this.#usePlan(text),
    });
  }

  /** There is something to read in its transcript. */
  get hasTalked(): boolean {
    return (this.#session?.history.length ?? 0) > 0;
  }

  /** While a task runs nothing can be chosen: their keys are letters then. */
  get pickers(): readonly Picker[] {
    return this.#work === undefined ? this.#choices.pickers : [];
  }

  start(listener: (inputs: readonly ViewInput[]) => void): void {
    const { runtime, warnings } = this.#options;
    this.#feed.start(listener);
    this.#feed.introduce(this.#choices.settings);
    this.#feed.say("info", `${this.settings().join(" · ")}\n${PICKER_KEYS}`);
    for (const warning of warnings) this.#feed.say("warn", warning);
    if (runtime.config.agentMode === "multi-agent") {
      this.#feed.say("info", `multi-agent: ${teamLine(runtime, this.#choices.main)}`);
    }
    // What hooks say of a session, and what keeps it from opening, is for the first moment and not for the first message.
    void this.#opened().catch((error: unknown) => {
      if (this.#closing !== undefined) return;
      this.#feed.say("error", [messageOf(error), ...waysOut(runtime.providers)].join("\n"));
    });
  }

  async send(text: string, { isNow = false } = {}): Promise<void> {
    const typed = readTyped(text);
    if (typed.kind === "empty") return;
    if (typed.kind === "unknown") throw new CodedError("unknown_command", typed.message);
    const words = typed.kind === "message" ? typed.text : text.trim();
    if (this.#work === undefined) {
      await this.#begin({ text: words });
      return;
    }
    this.#queue.add(words, isNow);
    this.#feed.queue(this.#queue.messages);
    if (isNow) await this.#session?.abort();
  }

  /** As in the plain talk, what waits for the task is forgotten with it. */
  async interrupt(): Promise<void> {
    if (this.#work === undefined) {
      this.#feed.say("info", "no task is running");
      return;
    }
    const dropped = this.#queue.clear();
    if (dropped > 0) {
      this.#feed.queue(this.#queue.messages);
      const what =
        dropped === 1
          ? "a message that waited was not sent; Up recalls it"
          : `${dropped} messages that waited were not sent; Up recalls them`;
      this.#feed.say("info", what);
    }
    await this.#session?.abort();
  }

  async respond(request: RequestRow, answer: Answer): Promise<void> {
    this.#asking.respond(request, answer);
    // A decision about a tool says by itself that the turn is to end; a question knows only "no answer".
    const isCancel = "decision" in answer && answer.decision === "cancel";
    if (isCancel && request.request_type === "user_input") await this.#session?.abort();
  }

  wholeRequest(request: RequestRow): Promise<RequestRow> {
    return Promise.resolve(request);
  }

  async cancelQueued(message_id: string): Promise<void> {
    this.#queue.cancel(message_id);
    this.#feed.queue(this.#queue.messages);
  }

  /** Nothing is kept but what was shown. */
  loadEarlier(): Promise<boolean> {
    return Promise.resolve(false);
  }

  /** With who said so (§13). */
  settings(): readonly string[] {
    const { runtime, order } = this.#options;
    const words = [...settingsWords(this.#choices.settings), ...placeWords(runtime, order)];
    return this.#session?.sandbox === "none" ? [...words, "commands are refused"] : words;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#queue.clear();
    const session = await this.#opening?.catch(() => undefined);
    await session?.close();
    await this.#work;
    this.#feed.close();
  }

  /** One session for the whole talk; what could not be opened is tried again with the next choice or message. */
  async #opened(): Promise<DemianSession> {
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
    const { runtime, order } = this.#options;
    const session = await runtime.openSession({
      sessionId: this.session_id,
      ...chosenOf(this.#choices.settings),
      yes: order.yes,
      dryRun: order.dryRun,
      ...(order.transcript === undefined ? {} : { transcript: order.transcript }),
      ask: (prompt, signal) => this.#asking.permission(prompt, signal),
      question: (question, signal) => this.#asking.question(question, signal),
      onEvent: (event) => this.#feed.see(event),
    });
    if (session.sandbox === "none") {
      this.#feed.say("warn", "commands cannot be isolated here and are refused; `demian doctor` says why");
    }
    return session;
  }

  async #begin(work: Work): Promise<void> {
    if (this.#closing !== undefined) throw new CodedError("session_closed", "the session is closed");
    this.#assertStandby();
    if (this.#choices.lacksModel) {
      throw new CodedError("no_model", "name a model first: m in an empty line, or /model NAME");
    }
    const opened = this.#opened();
    // Set before anything is awaited: a second message meanwhile must wait for this one.
    let isBegun = false;
    this.#work = opened
      .then((session) => {
        isBegun = true;
        return this.#carryOut(session, work);
      })
      .catch((error: unknown) => {
        if (isBegun) this.#feed.say("error", messageOf(error));
      })
      .finally(() => {
        this.#work = undefined;
        this.#feed.state();
      });
    await opened;
  }

  async #carryOut(session: DemianSession, first: Work): Promise<void> {
    for (let work: Work | undefined = first; work !== undefined; work = this.#next()) {
      await this.#turn(session, work);
    }
  }

  #next(): Work | undefined {
    if (this.#closing !== undefined) return undefined;
    const text = this.#queue.take();
    if (text === undefined) return undefined;
    this.#feed.queue(this.#queue.messages);
    return { text };
  }

  async #turn(session: DemianSession, { text, usePlan }: Work): Promise<void> {
    const parts = this.#parts;
    this.#parts = [];
    this.#feed.turnBegan();
    let report = FAILED;
    try {
      report = await session.run({
        text,
        ...(parts.length === 0 ? {} : { parts }),
        ...(usePlan ? { usePlan } : {}),
      });
    } finally {
      this.#feed.turnEnded(report);
    }
    if (report.plan !== undefined) this.#feed.say("info", planMade("p"));
    await this.#remember(report);
  }

  async #remember(report: TurnReport): Promise<void> {
    const { settings } = this.#choices;
    if (this.#remembered === settings || !isGood(report)) return;
    this.#remembered = settings;
    const kept = await this.#options.onChosen(settings);
    if (kept !== undefined) this.#feed.say(kept.isKept ? "info" : "warn", kept.text);
  }

  async #compact(): Promise<string> {
    this.#assertStandby();
    const session = await this.#opened();
    this.#assertStandby();
    return compactBlock(session.compact());
  }

  async #usePlan(text: string): Promise<void> {
    this.#assertStandby();
    if (this.#session?.plan === undefined) {
      throw new CodedError("no_plan", noPlan("press p"));
    }
    await this.#begin({ text: text === "" ? CARRY_OUT : text, usePlan: true });
  }

  #assertStandby(): void {
    if (this.#work === undefined) return;
    throw new CodedError("session_busy", "a task is running: /stop ends it, /exit leaves");
  }
}

/** The turn could not even be tried; why is said beside it. */
const FAILED: TurnReport = {
  outcome: "failed",
  text: "",
  turns: 0,
  usage: { inputTokens: 0, outputTokens: 0 },
  message: "the message could not be sent",
};
