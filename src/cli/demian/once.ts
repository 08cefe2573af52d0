// Answers one message and exits, for scripts and pipes. Without a terminal it does not prompt.

import { sanitizeLine } from "../../base/sanitize.ts";
import { defined } from "../../base/values.ts";
import type { RuntimeEvent, TurnEnd } from "../../runtime/events.ts";
import type { UserContentPart } from "../../runtime/messages.ts";
import type { PermissionAnswer, PermissionPrompt } from "../../runtime/permissions/types.ts";
import type { DemianSession, Runtime, TurnReport } from "../../runtime/session-types.ts";
import type { UserQuestion } from "../../runtime/tools/types.ts";
import { Output } from "../output.ts";
import { type Conversation, describeContinued } from "./conversation.ts";
import { EXIT_CODES, type Io, type Stop } from "./io.ts";
import type { Order } from "./order.ts";
import { askQuestion, createAsker } from "./permission.ts";
import { Progress } from "./progress.ts";
import type { Screen } from "./screen.ts";
import { type Settings, toSessionChoice } from "./settings.ts";
import { Terminal } from "./terminal.ts";

export interface OnceOptions {
  io: Io;
  screen: Screen;
  runtime: Runtime;
  settings: Settings;
  order: Order;
  conversation: Conversation;
  text: string;
  parts: readonly UserContentPart[];
  isJson: boolean;
}

export async function runOnce(options: OnceOptions): Promise<number> {
  const { io, screen, runtime, settings, order, conversation, text, parts, isJson } = options;
  const progress = new Progress(screen);
  const output = new Output({ stdout: io.stdout, stderr: io.stderr, env: io.env });
  const asking = new Asking(options);
  const stopping = new Stopping(io);
  asking.onInterrupt = () => stopping.stop("SIGINT");
  let session: DemianSession | undefined;
  try {
    session = await runtime.openSession({
      ...conversation.order,
      ...toSessionChoice(settings),
      yes: order.yes,
      dryRun: order.dryRun,
      ...defined({ transcript: order.transcript }),
      ask: (prompt, signal) => asking.ask(prompt, signal),
      ...(asking.isPossible ? { question: (question, signal) => asking.question(question, signal) } : {}),
      onEvent: (event: RuntimeEvent) => {
        // The stream keeps the order; a slow reader costs at most the output of one turn in memory.
        if (isJson && !stopping.isUnread) void output.json(event);
        else if (!isJson) progress.see(event);
      },
    });
    const input = { text, ...(parts.length === 0 ? {} : { parts }) };
    if (conversation.before !== undefined && !isJson) screen.note(`· ${describeContinued(conversation)}`);
    conversation.begin(text, session);
    const report = await session.run({ ...input, signal: stopping.signal });
    conversation.endTurn(session, report);
    await session.close();
    if (isJson && !stopping.isUnread) await output.json({ type: "result", sessionId: session.id, ...report });
    else if (!isJson) await showReport(report, screen, progress);
    if (!isJson && report.plan !== undefined) screen.note("· this is only a plan; nothing was changed");
    return stopping.code ?? toExitCode(report.outcome);
  } finally {
    await session?.close();
    stopping.close();
  }
}

/** Prints the answer to stdout, and to stderr why it is missing or incomplete. */
export async function showReport(report: TurnReport, screen: Screen, progress: Progress): Promise<void> {
  const { outcome, text, message } = report;
  if (progress.hasShown(text)) screen.freshLine();
  else if (outcome !== "aborted") await screen.answer(text);
  screen.freshLine();
  if (outcome === "completed" && text === "") screen.note("· the model returned no answer");
  if (outcome === "completed") return;
  const why = sanitizeLine(message ?? outcome);
  if (outcome === "aborted") screen.note(`· ${why}`);
  else screen.error(`✗ ${why}`);
}

/** False if the provider or model did not work, so that it is not saved. */
export function isGood({ outcome }: TurnReport): boolean {
  return outcome !== "failed" && outcome !== "aborted" && outcome !== "blocked";
}

function toExitCode(outcome: TurnEnd): number {
  if (outcome === "completed") return 0;
  return outcome === "aborted" ? EXIT_CODES.SIGINT : 1;
}

/** The first signal aborts the turn, the second exits. */
class Stopping {
  readonly #io: Io;
  readonly #abort = new AbortController();
  readonly #unlisten: () => void;
  #stop: Stop | undefined;

  constructor(io: Io) {
    this.#io = io;
    this.#unlisten = io.onStop((stop) => this.stop(stop));
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** The reader of stdout is gone. */
  get isUnread(): boolean {
    return this.#stop === "reader_gone";
  }

  get code(): number | undefined {
    return this.#stop === undefined ? undefined : EXIT_CODES[this.#stop];
  }

  stop(stop: Stop): void {
    // Reported again on every write.
    if (stop === "reader_gone" && this.#stop !== undefined) return;
    if (this.#stop !== undefined) this.#io.exit(EXIT_CODES[stop]);
    this.#stop = stop;
    this.#abort.abort();
  }

  close(): void {
    this.#unlisten();
  }
}

/** Reads the keyboard only during a prompt; otherwise Ctrl-C is handled by the terminal. */
class Asking {
  readonly #options: OnceOptions;
  onInterrupt: () => void = () => undefined;

  constructor(options: OnceOptions) {
    this.#options = options;
  }

  get isPossible(): boolean {
    const { io } = this.#options;
    return io.stdin.isTTY === true && io.stderr.isTTY === true;
  }

  ask(prompt: PermissionPrompt, signal: AbortSignal): Promise<PermissionAnswer> {
    const { screen } = this.#options;
    const interrupt = (): void => this.onInterrupt();
    return this.#withTerminal((keyboard) =>
      createAsker({ screen, terminal: () => keyboard, interrupt, leave: interrupt })(prompt, signal),
    );
  }

  question(question: UserQuestion, signal: AbortSignal): Promise<string | undefined> {
    return this.#withTerminal((keyboard) => askQuestion(question, this.#options.screen, keyboard, signal));
  }

  async #withTerminal<T>(use: (keyboard: Terminal | undefined) => Promise<T>): Promise<T> {
    if (!this.isPossible) return use(undefined);
    const { io, screen } = this.#options;
    const terminal = new Terminal({ input: io.stdin, output: io.stderr, screen, env: io.env });
    const unwatch = terminal.watch({
      line: () => undefined,
      interrupt: () => this.onInterrupt(),
      end: () => undefined,
    });
    try {
      return await use(terminal);
    } finally {
      unwatch();
      terminal.close();
    }
  }
}
