// Output of the plain chat: progress on stderr, the answer on stdout. Tracks whether the cursor is at the start of a line,
// because both may be the same terminal, and can hold back output while the user types.
import { sanitize, sanitizeControls } from "../../base/sanitize.ts";
import { applyStyle, type Sink, type Style, waitForDrain } from "../output.ts";

export interface ScreenOptions {
  stdout: Sink;
  stderr: Sink;
  env: Readonly<Record<string, string | undefined>>;
  /** stdout and stderr are the same terminal, file or pipe. */
  isShared: boolean;
  /** Only prompts and errors. */
  isQuiet?: boolean;
  /** stdout has events, including the answer. */
  isJson?: boolean;
}

/** Output beyond this is written even while the user types. */
const MAX_HELD = 256 * 1024;

export class Screen {
  readonly #options: ScreenOptions;
  #isAtStart = true;
  #held: string[] | undefined;
  #heldLength = 0;
  #carry = "";

  constructor(options: ScreenOptions) {
    this.#options = options;
  }

  /** Whether the model's text is shown as it arrives. In a shared pipe the answer would appear twice. */
  get isStreaming(): boolean {
    const { isShared, isQuiet, isJson, stderr } = this.#options;
    return !isQuiet && !isJson && (!isShared || stderr.isTTY === true);
  }

  /** The streamed text is where the answer would be printed. */
  get hasAnswer(): boolean {
    return this.isStreaming && this.#options.isShared;
  }

  /** stderr is a terminal. */
  get isTerminal(): boolean {
    return this.#options.stderr.isTTY === true;
  }

  get columns(): number {
    return this.isTerminal ? this.#options.stderr.columns || 80 : Number.POSITIVE_INFINITY;
  }

  note(text: string): void {
    if (!this.#options.isQuiet) this.#line(text, "dim");
  }

  warn(text: string): void {
    if (!this.#options.isQuiet) this.#line(text, "yellow");
  }

  /** Output of a command; shown even if quiet. */
  say(text: string): void {
    this.freshLine();
    this.#put(`${sanitize(text)}\n`, true);
  }

  /** A prompt; shown even if quiet. */
  ask(text: string): void {
    this.#line(text, "yellow");
  }

  error(text: string): void {
    this.#line(text, "red");
  }

  /** The model's text as it arrives; dim if the answer is printed elsewhere. */
  stream(text: string): void {
    if (!this.isStreaming) return;
    // A CRLF may be split across two chunks.
    const whole = this.#carry + text;
    this.#carry = whole.endsWith("\r") ? "\r" : "";
    const clean = sanitize(this.#carry === "" ? whole : whole.slice(0, -1));
    if (clean === "") return;
    this.#put(this.#options.isShared ? clean : this.#applyStyle("dim", clean), clean.endsWith("\n"));
  }

  /** Prints the answer to stdout, without control sequences if that is a terminal. */
  async answer(text: string): Promise<void> {
    const { stdout, isShared } = this.#options;
    if (text === "") return;
    if (this.isTerminal) this.freshLine();
    const clean = stdout.isTTY === true ? sanitize(text) : sanitizeControls(text);
    const isTaken = stdout.write(clean.endsWith("\n") ? clean : `${clean}\n`);
    if (isShared) this.#isAtStart = true;
    if (!isTaken) await waitForDrain(stdout);
  }

  /** Starts a new line unless the cursor is at the start of one. */
  freshLine(): void {
    this.#carry = "";
    if (!this.#isAtStart) this.#put("\n", true);
  }

  /** The terminal drew its prompt, or ended that line. */
  setAtStart(isAtStart: boolean): void {
    this.#isAtStart = isAtStart;
  }

  hold(): void {
    this.#held ??= [];
  }

  release(): void {
    const held = this.#held?.join("");
    this.#held = undefined;
    this.#heldLength = 0;
    if (held !== undefined && held !== "") this.#options.stderr.write(held);
  }

  style(style: Style, text: string): string {
    return this.#applyStyle(style, text);
  }

  #line(text: string, style: Style): void {
    this.freshLine();
    this.#put(`${this.#applyStyle(style, sanitize(text))}\n`, true);
  }

  #put(text: string, isAtStart: boolean): void {
    this.#isAtStart = isAtStart;
    if (this.#held === undefined) {
      this.#options.stderr.write(text);
      return;
    }
    this.#held.push(text);
    this.#heldLength += text.length;
    if (this.#heldLength > MAX_HELD) {
      this.release();
      this.hold();
    }
  }

  #applyStyle(style: Style, text: string): string {
    return applyStyle(this.#options.stderr, this.#options.env, style, text);
  }
}
