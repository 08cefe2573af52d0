// The plain-text chat: asks for provider and model, then runs one message at a time until /exit. Input typed during a
// task is a command for it, or is queued until it ends.

import { CodedError } from "../../base/coded-error.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { defined } from "../../base/values.ts";
import { findMainAgent } from "../../runtime/agents/from-config.ts";
import { formatContextReport } from "../../runtime/context/report-text.ts";
import { answerMcpCommand } from "../../runtime/mcp/report.ts";
import type { UserContentPart } from "../../runtime/messages.ts";
import { expandPrompt } from "../../runtime/prompts.ts";
import type { DemianSession, Runtime, TurnReport } from "../../runtime/session-types.ts";
import type { DriverCommand } from "../../tui/types.ts";
import { truncate } from "../bar.ts";
import { formatUsageLines } from "../program.ts";
import { Attachments } from "./attachments.ts";
import { createCommands, formatCompactReport } from "./chat-actions.ts";
import { CHAT_COMMANDS, readTyped } from "./chat-commands.ts";
import { Choices } from "./choices.ts";
import { ProviderPrompt } from "./choose-provider.ts";
import { type Conversation, recallConversation, renameConversation } from "./conversation.ts";
import { EXIT_CODES, type Io, type Stop } from "./io.ts";
import { runJobsCommand } from "./jobs-text.ts";
import { isGood, showReport } from "./once.ts";
import type { Order } from "./order.ts";
import { askQuestion, createAsker } from "./permission.ts";
import { CARRY_OUT, explainNoPlan, explainPlan } from "./plan-messages.ts";
import { Progress } from "./progress.ts";
import type { Screen } from "./screen.ts";
import { formatPlace, formatSettings, type Settings, toSessionChoice } from "./settings.ts";
import { formatShellOutput } from "./shell-text.ts";
import { describeTeam, formatSubAgents } from "./sub-agents.ts";
import { Terminal } from "./terminal.ts";
import { Thoughts } from "./thoughts.ts";
import type { TurnCheckpoints } from "./tui/checkpoints.ts";
import { formatUndo, noteUndo } from "./undo-text.ts";
import { formatUsage } from "./usage-text.ts";

export interface ChatOptions {
  io: Io;
  screen: Screen;
  runtime: Runtime;
  settings: Settings;
  order: Order;
  conversation: Conversation;
  /** Attached to the first message. */
  parts: readonly UserContentPart[];
  /** Called after the first successful turn with these settings. */
  onChosen(settings: Settings): Promise<void>;
}

const PROMPT = "> ";
const MORE = "… ";

export class Chat {
  readonly #options: ChatOptions;
  readonly #terminal: Terminal;
  readonly #progress: Progress;
  readonly #thoughts = new Thoughts();
  readonly #choices: Choices;
  readonly #commands: readonly DriverCommand[];
  #session: DemianSession | undefined;
  #parts: readonly UserContentPart[];
  #checkpoints: Promise<TurnCheckpoints> | undefined;
  /** The settings that were saved last. */
  #remembered: Settings | undefined;
  /** The first choice was made, and the session is open. */
  #hasBegun = false;
  #isRunning = false;
  /** Ctrl-C was pressed; the next one exits. */
  #isArmed = false;
  /** Exit code, set when leaving. */
  #code: number | undefined;
  #leaving = new AbortController();

  constructor(options: ChatOptions) {
    const { io, screen, runtime, settings, parts } = options;
    this.#options = options;
    this.#parts = parts;
    this.#progress = new Progress(screen);
    this.#terminal = new Terminal({
      input: io.stdin,
      output: io.stderr,
      screen,
      env: io.env,
      complete: (line) =>
        [...CHAT_COMMANDS.map(({ name }) => name), ...runtime.commands.map(({ name }) => `/${name}`)].flatMap(
          (name) => (line !== "" && name.startsWith(line) ? [`${name} `] : []),
        ),
    });
    this.#choices = new Choices({
      runtime,
      settings,
      session: () => Promise.resolve(this.#session),
      open: async () => {
        this.#session = await this.#open();
      },
      assertStandby: () => undefined,
      onChosen: (text) => this.#hasBegun && screen.note(`· ${text.replaceAll("\n", "\n· ")}`),
    });
    this.#commands = createCommands({
      choices: this.#choices,
      say: (text) => screen.say(text),
      ask: (key) => this.#ask(key),
      thinking: () => this.#thoughts.format(),
      agents: () => formatSubAgents(runtime, this.#choices.main).join("\n"),
      stop: async () => screen.note("· no task is running"),
      jobs: (word) => runJobsCommand(this.#session, word),
      undo: (order) => this.#undo(order),
      attach: (path) => this.#attach(path),
      compact: async () => formatCompactReport(this.#session?.compact()),
      rename: async (name) => renameConversation(options.conversation, name),
      context: async () => (this.#session === undefined ? "" : formatContextReport(this.#session.context())),
      mcp: async (word) => answerMcpCommand(this.#session ?? {}, word),
      usePlan: (text) => this.#sendPlan(text),
    });
  }

  async run(): Promise<number> {
    const unlisten = this.#options.io.onStop((stop) => this.#onStop(stop));
    try {
      if (await this.#begin()) {
        while (this.#code === undefined) await this.#step();
      }
      return this.#code ?? 0;
    } finally {
      unlisten();
      this.#terminal.close();
      await this.#session?.close();
      await (await this.#checkpoints)?.close();
    }
  }

  /** Returns false if the user exits instead. */
  async #begin(): Promise<boolean> {
    const { screen, runtime, order } = this.#options;
    screen.say([...formatSettings(this.#choices.settings), ...formatPlace(runtime, order)].join(" · "));
    screen.note("· Enter accepts the value in brackets, ? lists the choices");
    // Fail early: an unknown agent cannot be fixed by choosing a provider.
    findMainAgent(runtime.agents, this.#choices.settings.agent.value);
    while (this.#session === undefined) {
      const chosen = await this.#choosing().both(this.#choices.settings);
      if (typeof chosen === "number") {
        this.#code ??= chosen;
        return false;
      }
      await this.#attempt(() => this.#choices.take(chosen));
    }
    if (this.#session.sandbox === "none") {
      screen.warn("! commands are refused because no sandbox works here; run `demian doctor`");
    }
    if (runtime.config.agentMode === "multi-agent") {
      screen.note(
        `· multi-agent: ${truncate(describeTeam(runtime, this.#choices.main), 4 * screen.columns)}`,
      );
    }
    for (const line of recallConversation(this.#options.conversation)) screen.note(`· ${line}`);
    screen.note(`· sandbox ${this.#session.sandbox}; /help lists the commands, Ctrl-D exits`);
    this.#hasBegun = true;
    return true;
  }

  #choosing(): ProviderPrompt {
    const { screen, runtime } = this.#options;
    return new ProviderPrompt({ screen, runtime, terminal: this.#terminal, signal: this.#leaving.signal });
  }

  #open(): Promise<DemianSession> {
    const { screen, runtime, order, conversation } = this.#options;
    const terminal = (): Terminal => this.#terminal;
    return runtime.openSession({
      ...conversation.order,
      ...toSessionChoice(this.#choices.settings),
      yes: order.yes,
      dryRun: order.dryRun,
      ...defined({ transcript: order.transcript }),
      ask: createAsker({
        screen,
        terminal,
        interrupt: () => this.#interrupt(),
        leave: () => this.#leave(0),
      }),
      question: (question, signal) => askQuestion(question, screen, this.#terminal, signal),
      onEvent: (event) => {
        this.#thoughts.see(event);
        this.#progress.see(event);
      },
    });
  }

  async #step(): Promise<void> {
    const text = await this.#message();
    if (text === undefined) return;
    const own = expandPrompt(this.#options.runtime.commands, text);
    const typed = readTyped(text);
    if (typed.kind === "unknown" && own !== undefined) return this.#turn(own);
    if (typed.kind === "unknown") this.#options.screen.error(`✗ ${sanitizeLine(typed.message)}`);
    if (typed.kind === "message") await this.#turn(typed.text);
    if (typed.kind === "shell") await this.#attempt(() => this.#runShell(typed.command));
    if (typed.kind === "command") {
      const { name, word } = typed;
      await this.#attempt(() => this.#command(name, word));
    }
  }

  /** Undefined if there is none, for example when leaving. */
  async #message(): Promise<string | undefined> {
    const lines: string[] = [];
    for (;;) {
      const prompt = lines.length === 0 ? PROMPT : MORE;
      const said = await this.#terminal.ask({ prompt, isKept: true, signal: this.#leaving.signal });
      if (said.kind === "aborted") return undefined;
      if (said.kind === "end") return this.#leave(0);
      if (said.kind === "interrupt") {
        if (lines.length === 0) this.#interrupt();
        return undefined;
      }
      this.#isArmed = false;
      const { text } = said;
      lines.push(text.endsWith("\\") ? text.slice(0, -1) : text);
      if (!text.endsWith("\\")) return lines.join("\n");
    }
  }

  async #turn(text: string, usePlan = false): Promise<void> {
    const { screen } = this.#options;
    const checkpoints = await this.#loadCheckpoints();
    const parts = this.#parts;
    this.#parts = [];
    const { conversation } = this.#options;
    const report = await this.#whileRunning(async (session) => {
      const extras = { ...(parts.length === 0 ? {} : { parts }), ...(usePlan ? { usePlan } : {}) };
      conversation.begin(text, session);
      const ended = await checkpoints.record(() => session.run({ text, ...extras }));
      conversation.endTurn(session, ended);
      return ended;
    });
    if (report === undefined) return;
    await showReport(report, screen, this.#progress);
    await this.#remember(report);
    if (report.plan !== undefined) screen.note(`· ${explainPlan("/provider")}`);
    screen.note(`· ${formatUsage(report)}`);
  }

  /** A turn or a command of the user: lines typed meanwhile are commands for it, or queued. */
  async #whileRunning<T>(run: (session: DemianSession) => Promise<T>): Promise<T | undefined> {
    const session = this.#session;
    if (session === undefined) return undefined;
    this.#isRunning = true;
    const unwatch = this.#terminal.watch({
      line: (line) => this.#onLineDuringTask(line),
      interrupt: () => this.#interrupt(),
      end: () => this.#options.screen.note("· end of input; exiting when this task is done"),
    });
    try {
      return await run(session);
    } finally {
      unwatch();
      this.#isRunning = false;
    }
  }

  async #remember(report: TurnReport): Promise<void> {
    const { settings } = this.#choices;
    if (this.#remembered === settings || !isGood(report)) return;
    this.#remembered = settings;
    await this.#options.onChosen(settings);
  }

  #onLineDuringTask(line: string): void {
    const { screen } = this.#options;
    const typed = readTyped(line);
    const isOwn = expandPrompt(this.#options.runtime.commands, line) !== undefined;
    // A late answer to a prompt that is gone.
    if (typed.kind === "empty" || /^\s*[yna]\s*$/i.test(line)) return;
    if (typed.kind === "unknown" && !isOwn) screen.error(`✗ ${sanitizeLine(typed.message)}`);
    if (typed.kind === "message" || typed.kind === "shell" || (typed.kind === "unknown" && isOwn)) {
      this.#terminal.queue(line.trim());
      screen.note("· queued until this task is done; /stop stops it and clears the queue");
    }
    if (typed.kind !== "command") return;
    if (typed.name === "/exit") this.#leave(0);
    else if (typed.name === "/stop") this.#abort();
    else if (typed.name === "/jobs") void this.#attempt(() => this.#command("/jobs", typed.word));
    else screen.note("· a task is running: /stop, /jobs or /exit");
  }

  async #runShell(command: string): Promise<void> {
    const { screen } = this.#options;
    const result = await this.#whileRunning((session) =>
      session.runCommand({ command, signal: this.#leaving.signal }),
    );
    if (result !== undefined) screen.say(formatShellOutput(result.output, result.end));
  }

  async #attach(path: string | undefined): Promise<string> {
    const { runtime, io } = this.#options;
    const attachments = new Attachments(runtime, io.env);
    const label = await attachments.add(path);
    this.#parts = [...this.#parts, ...attachments.take(label)];
    return label;
  }

  async #undo(order: { force?: boolean }): Promise<string> {
    const checkpoints = await this.#loadCheckpoints();
    const reply = await checkpoints.undo(order);
    if (reply.done) this.#session?.addNote(noteUndo(reply));
    return formatUndo(reply);
  }

  /** Loaded with the first turn. */
  #loadCheckpoints(): Promise<TurnCheckpoints> {
    const { io, runtime, screen } = this.#options;
    const { id = "" } = this.#session ?? {};
    const warn = (text: string): void => screen.warn(`! ${text}`);
    this.#checkpoints ??= import("./tui/checkpoints.ts").then(
      ({ TurnCheckpoints: create }) => new create(id, { cwd: runtime.cwd, env: io.env, warn }),
    );
    return this.#checkpoints;
  }

  async #command(name: string, word = ""): Promise<void> {
    if (name === "/exit") this.#leave(0);
    else if (name === "/help")
      this.#options.screen.say(["", ...formatUsageLines(CHAT_COMMANDS), ""].join("\n"));
    else await this.#commands.find((command) => command.name === name)?.run(word);
  }

  async #sendPlan(text: string): Promise<void> {
    if (this.#session?.plan === undefined)
      this.#options.screen.note(`· ${explainNoPlan("/provider claudecode-plan")}`);
    else await this.#turn(text === "" ? CARRY_OUT : text, true);
  }

  /** For /provider, /model and /agent without a name. */
  async #ask(key: string): Promise<void> {
    const { screen, runtime } = this.#options;
    if (key === "a") {
      const agents = runtime.agents.listPrimary();
      const rows = agents.map(({ name, description }) => ({ usage: name, summary: description }));
      screen.say(formatUsageLines(rows).join("\n"));
      return;
    }
    const { settings } = this.#choices;
    const chosen = await (key === "m" ? this.#choosing().model(settings) : this.#choosing().both(settings));
    if (typeof chosen !== "number") await this.#choices.take(chosen);
  }

  /** Shows the user's mistakes instead of ending the chat. */
  async #attempt(action: () => Promise<void>): Promise<void> {
    try {
      await action();
    } catch (error) {
      if (!(error instanceof CodedError)) throw error;
      this.#options.screen.error(`✗ ${sanitizeLine(error.message)}`);
    }
  }

  #abort(): void {
    this.#terminal.dropQueue();
    // The turn reports how it ended.
    void this.#session?.abort();
  }

  /** Ctrl-C once stops the task, twice exits. */
  #interrupt(): void {
    const { screen, io } = this.#options;
    if (this.#isArmed && this.#isRunning) {
      this.#terminal.close();
      io.exit(EXIT_CODES.SIGINT);
    }
    if (this.#isArmed) {
      this.#leave(EXIT_CODES.SIGINT);
      return;
    }
    this.#isArmed = true;
    screen.note(this.#isRunning ? "· stopping; Ctrl-C again exits" : "· Ctrl-C again or Ctrl-D exits");
    if (this.#isRunning) this.#abort();
  }

  #onStop(stop: Stop): void {
    if (stop === "SIGINT") this.#interrupt();
    else this.#leave(EXIT_CODES[stop]);
  }

  #leave(code: number): undefined {
    this.#code ??= code;
    if (this.#isRunning) this.#abort();
    this.#leaving.abort();
  }
}
