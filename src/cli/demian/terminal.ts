// Keyboard input of the plain chat: prompts with line editing, and lines typed while a task runs. Text typed before a
// permission prompt appeared never answers it.
import { createInterface, type Interface } from "node:readline";
import { Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { Sink } from "../output.ts";
import type { Screen } from "./screen.ts";

export type TerminalInput =
  | { kind: "line"; text: string }
  /** Ctrl-D, or the terminal was closed. */
  | { kind: "end" }
  /** Ctrl-C */
  | { kind: "interrupt" }
  | { kind: "aborted" };

export interface TerminalPrompt {
  prompt: string;
  /** Ignores text that was typed before it or pasted. */
  isFresh?: boolean;
  /** Added to the history of the arrow keys. */
  isKept?: boolean;
  signal?: AbortSignal;
}

export interface Watcher {
  line(text: string): void;
  interrupt(): void;
  /** End of input. */
  end(): void;
}

export interface TerminalOptions {
  input: NodeJS.ReadableStream;
  output: Sink;
  screen: Screen;
  env: Readonly<Record<string, string | undefined>>;
  complete?(line: string): string[];
}

/** How long typed-ahead input may take to arrive. */
const SETTLE_MS = 50;
const HISTORY_SIZE = 500;
const MAX_QUEUED = 1000;
const PASTE_ON = "\x1b[?2004h";
const PASTE_OFF = "\x1b[?2004l";
const ERASE_ROW = "\r\x1b[J";

interface Waiting {
  question: TerminalPrompt;
  resolve(said: TerminalInput): void;
}

export class Terminal {
  readonly #options: TerminalOptions;
  readonly #lines: Interface;
  readonly #onKey = (_text: unknown, key: { name?: string } | undefined): void => this.#onKeypress(key?.name);
  /** readline's output is shown only while a line is edited. */
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
    this.#lines.on("line", (text) => this.#onLine(text));
    this.#lines.on("SIGINT", () => this.#onInterrupt());
    this.#lines.on("close", () => this.#onClose());
    input.on("keypress", this.#onKey);
    if (this.#canPaste(env)) output.write(PASTE_ON);
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Lines typed without a prompt go to the watcher; without one they are queued for the next prompt. */
  watch(watcher: Watcher): () => void {
    this.#watcher = watcher;
    return () => {
      if (this.#watcher !== watcher) return;
      this.#watcher = undefined;
      this.#stopTyping();
    };
  }

  /** Queues a line for the next prompt that is not fresh. */
  queue(text: string): void {
    if (this.#queue.length < MAX_QUEUED) this.#queue.push(text);
  }

  dropQueue(): void {
    this.#queue = [];
  }

  async ask(question: TerminalPrompt): Promise<TerminalInput> {
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
      const done = (said: TerminalInput): void => {
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

  /** Discards typed-ahead input. Ctrl-C and commands for a running task still work. */
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

  #onLine(text: string): void {
    if (this.#isPasting) {
      this.#pasted.push(text);
      return;
    }
    const whole = [...this.#pasted, text].join("\n");
    const isPasted = this.#hasPaste;
    this.#pasted = [];
    this.#hasPaste = false;
    if (this.#waiting === undefined) {
      this.#onTypedLine(whole);
      return;
    }
    const { question, resolve } = this.#waiting;
    this.#options.screen.setAtStart(true);
    if (!question.isKept) this.#forget(text);
    if (question.isFresh && isPasted) {
      this.#options.screen.ask("pasted text is not accepted here; type your answer");
      this.#draw();
      return;
    }
    resolve({ kind: "line", text: whole });
  }

  /** A line typed while a task runs. */
  #onTypedLine(text: string): void {
    if (this.#isTyping) this.#options.screen.setAtStart(true);
    this.#isTyping = false;
    this.#isShown = false;
    this.#options.screen.release();
    if (this.#watcher === undefined) this.queue(text);
    else this.#watcher.line(text);
  }

  #onKeypress(key: string | undefined): void {
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

  /** Holds back output while the user types, so that the two do not mix. */
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

  #onInterrupt(): void {
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

  #onClose(): void {
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

  /** Keeps only messages in the history. */
  #forget(text: string): void {
    const { history } = this.#lines as { history?: string[] };
    if (text !== "" && history?.[0] === text) history.shift();
  }
}
