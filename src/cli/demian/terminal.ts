// The keyboard: questions with line editing, and lines that are typed while a task runs. What was typed before a
// question that lets an agent do something never answers it.
import { createInterface, type Interface } from "node:readline";
import { Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { Sink } from "../output.ts";
import type { Screen } from "./screen.ts";

export type Said =
  | { kind: "line"; text: string }
  /** Ctrl-D, or the terminal is gone. */
  | { kind: "end" }
  /** Ctrl-C */
  | { kind: "interrupt" }
  | { kind: "aborted" };

export interface Question {
  prompt: string;
  /** Only what is typed for it counts, and nothing that was pasted. */
  isFresh?: boolean;
  /** Kept to be found again with the arrow keys. */
  isKept?: boolean;
  signal?: AbortSignal;
}

export interface Watcher {
  line(text: string): void;
  interrupt(): void;
  /** No more input will come. */
  end(): void;
}

export interface TerminalOptions {
  input: NodeJS.ReadableStream;
  output: Sink;
  screen: Screen;
  env: Readonly<Record<string, string | undefined>>;
  complete?(line: string): string[];
}

/** So long what is already typed may take to arrive. */
const SETTLE_MS = 50;
const HISTORY_SIZE = 500;
const MAX_QUEUED = 1000;
const PASTE_ON = "\x1b[?2004h";
const PASTE_OFF = "\x1b[?2004l";
const ERASE_ROW = "\r\x1b[J";

interface Waiting {
  question: Question;
  resolve(said: Said): void;
}

export class Terminal {
  readonly #options: TerminalOptions;
  readonly #lines: Interface;
  readonly #onKey = (_text: unknown, key: { name?: string } | undefined): void => this.#pressed(key?.name);
  /** What readline writes is seen only while a line is edited. */
  #isShown = false;
  #waiting: Waiting | undefined;
  #watcher: Watcher | undefined;
  #queue: string[] = [];
  #pasted: string[] = [];
  #isPasting = false;
  #hasPaste = false;
  #isTyping = false;
  #isEnded = false;

  constructor(options: TerminalOptions) {
    const { input, output, env, complete } = options;
    this.#options = options;
    const gate = new Writable({
      write: (chunk, _encoding, done) => {
        if (this.#isShown) output.write(String(chunk));
        done();
      },
    });
    Object.defineProperty(gate, "columns", { get: () => output.columns || 80 });
    this.#lines = createInterface({
      input,
      output: gate,
      terminal: true,
      historySize: HISTORY_SIZE,
      removeHistoryDuplicates: true,
      completer: (line: string) => [complete?.(line) ?? [], line],
    });
    this.#lines.on("line", (text) => this.#line(text));
    this.#lines.on("SIGINT", () => this.#interrupted());
    this.#lines.on("close", () => this.#ended());
    input.on("keypress", this.#onKey);
    if (this.#canPaste(env)) output.write(PASTE_ON);
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** What is typed while nobody is asked goes to the watcher; without one it waits for the next question. */
  watch(watcher: Watcher): () => void {
    this.#watcher = watcher;
    return () => {
      if (this.#watcher !== watcher) return;
      this.#watcher = undefined;
      this.#stopTyping();
    };
  }

  /** For the next question that is not fresh. */
  queue(text: string): void {
    if (this.#queue.length < MAX_QUEUED) this.#queue.push(text);
  }

  dropQueue(): void {
    this.#queue = [];
  }

  async ask(question: Question): Promise<Said> {
    const { isFresh = false, signal } = question;
    if (signal?.aborted) return { kind: "aborted" };
    if (isFresh) await this.#settle();
    const queued = isFresh ? undefined : this.#queue.shift();
    if (queued !== undefined) {
      this.#options.screen.freshLine();
      this.#options.output.write(`${question.prompt}${queued}\n`);
      return { kind: "line", text: queued };
    }
    if (this.#isEnded) return { kind: "end" };
    if (signal?.aborted) return { kind: "aborted" };
    return new Promise((resolve) => {
      const done = (said: Said): void => {
        signal?.removeEventListener("abort", onAbort);
        this.#waiting = undefined;
        this.#isShown = false;
        this.#pasted = [];
        this.#hasPaste = false;
        resolve(said);
      };
      const onAbort = (): void => {
        this.#endRow();
        done({ kind: "aborted" });
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      this.#waiting = { question, resolve: done };
      this.#draw();
    });
  }

  /** Safe to call twice. */
  close(): void {
    const { input, output, env } = this.#options;
    input.removeListener("keypress", this.#onKey);
    if (this.#canPaste(env)) output.write(PASTE_OFF);
    this.#stopTyping();
    this.#lines.close();
  }

  #canPaste(env: TerminalOptions["env"]): boolean {
    return this.#options.output.isTTY === true && env["TERM"] !== "dumb";
  }

  /** Reads what was typed before now, and forgets it. Ctrl-C and the commands of a running task still count. */
  async #settle(): Promise<void> {
    await sleep(SETTLE_MS);
    this.#stopTyping();
    this.#clear();
    this.#pasted = [];
    this.#hasPaste = false;
  }

  #draw(): void {
    if (this.#waiting === undefined) return;
    this.#stopTyping();
    this.#options.screen.freshLine();
    this.#isShown = true;
    this.#lines.setPrompt(this.#waiting.question.prompt);
    this.#lines.prompt(true);
    this.#options.screen.setAtStart(false);
  }

  #line(text: string): void {
    if (this.#isPasting) {
      this.#pasted.push(text);
      return;
    }
    const whole = [...this.#pasted, text].join("\n");
    const isPasted = this.#hasPaste;
    this.#pasted = [];
    this.#hasPaste = false;
    if (this.#waiting === undefined) {
      this.#typed(whole);
      return;
    }
    const { question, resolve } = this.#waiting;
    this.#options.screen.setAtStart(true);
    if (!question.isKept) this.#forget(text);
    if (question.isFresh && isPasted) {
      this.#options.screen.ask("a pasted text answers nothing here: type it");
      this.#draw();
      return;
    }
    resolve({ kind: "line", text: whole });
  }

  /** While a task runs. */
  #typed(text: string): void {
    if (this.#isTyping) this.#options.screen.setAtStart(true);
    this.#isTyping = false;
    this.#isShown = false;
    this.#options.screen.release();
    if (this.#watcher === undefined) this.queue(text);
    else this.#watcher.line(text);
  }

  #pressed(key: string | undefined): void {
    if (key === "paste-start") {
      this.#isPasting = true;
      this.#hasPaste = true;
    }
    if (key === "paste-end") this.#isPasting = false;
    if (this.#waiting !== undefined || this.#watcher === undefined || this.#isEnded) return;
    const hasText = this.#lines.line !== "";
    if (hasText && !this.#isTyping) this.#startTyping();
    if (!hasText) this.#stopTyping();
  }

  /** The talk waits while somebody types a command; else both would be mixed on the screen. */
  #startTyping(): void {
    const { screen } = this.#options;
    screen.freshLine();
    screen.hold();
    this.#isTyping = true;
    this.#isShown = true;
    this.#lines.setPrompt(screen.style("dim", "(running) > "));
    this.#lines.prompt(true);
  }

  #stopTyping(): void {
    if (!this.#isTyping) return;
    this.#isTyping = false;
    this.#isShown = false;
    this.#options.output.write(ERASE_ROW);
    this.#options.screen.release();
  }

  #interrupted(): void {
    if (this.#waiting === undefined) {
      this.#clear();
      this.#stopTyping();
      this.#watcher?.interrupt();
      return;
    }
    const { question, resolve } = this.#waiting;
    const hasText = this.#lines.line !== "" || this.#pasted.length > 0;
    this.#endRow();
    this.#clear();
    this.#pasted = [];
    if (hasText && !question.isFresh) this.#draw();
    else resolve({ kind: "interrupt" });
  }

  #ended(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    const waiting = this.#waiting;
    if (waiting !== undefined) {
      this.#endRow();
      waiting.resolve({ kind: "end" });
    } else this.#watcher?.end();
  }

  #endRow(): void {
    this.#options.output.write("\n");
    this.#options.screen.setAtStart(true);
  }

  #clear(): void {
    const wasShown = this.#isShown;
    this.#isShown = false;
    if (!this.#isEnded) {
      this.#lines.write(null, { ctrl: true, name: "e" });
      this.#lines.write(null, { ctrl: true, name: "u" });
    }
    this.#isShown = wasShown;
  }

  /** Only messages are worth finding again. */
  #forget(text: string): void {
    const { history } = this.#lines as { history?: string[] };
    if (text !== "" && history?.[0] === text) history.shift();
  }
}
