// What a person sees while demian works: talk on stderr, the answer on stdout. It knows whether the cursor is at the
// beginning of a row, because both may be the same terminal, and it can hold the talk back while somebody types.
import { sanitize, sanitizeControls } from "../../base/sanitize.ts";
import { drained, type Sink, type Style, styled } from "../output.ts";

export interface ScreenOptions {
  stdout: Sink;
  stderr: Sink;
  env: Readonly<Record<string, string | undefined>>;
  /** Both lead to the same terminal, file or pipe. */
  isShared: boolean;
  /** Only questions and errors. */
  isQuiet?: boolean;
  /** stdout is for events: the answer is one of them. */
  isJson?: boolean;
}

/** What is held back while somebody types; then it is let go all the same. */
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

  /** Whether the model's words are shown as they come. Where the answer goes to the same pipe they would be there twice. */
  get isStreaming(): boolean {
    const { isShared, isQuiet, isJson, stderr } = this.#options;
    return !isQuiet && !isJson && (!isShared || stderr.isTTY === true);
  }

  /** What was streamed stands where the answer would be printed. */
  get hasAnswer(): boolean {
    return this.isStreaming && this.#options.isShared;
  }

  /** Somebody looks at the talk. */
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

  /** What somebody asked to see; never left out. */
  say(text: string): void {
    this.freshLine();
    this.#put(`${sanitize(text)}\n`, true);
  }

  /** What a person must see to decide; never left out. */
  ask(text: string): void {
    this.#line(text, "yellow");
  }

  error(text: string): void {
    this.#line(text, "red");
  }

  /** The model's words as they come. Dim where the answer itself goes elsewhere. */
  stream(text: string): void {
    if (!this.isStreaming) return;
    // A newline of two characters may come in two pieces.
    const whole = this.#carry + text;
    this.#carry = whole.endsWith("\r") ? "\r" : "";
    const clean = sanitize(this.#carry === "" ? whole : whole.slice(0, -1));
    if (clean === "") return;
    this.#put(this.#options.isShared ? clean : this.#styled("dim", clean), clean.endsWith("\n"));
  }

  /** The answer, on stdout: for a screen nothing in it is left that could act on one. */
  async answer(text: string): Promise<void> {
    const { stdout, isShared } = this.#options;
    if (text === "") return;
    if (this.isTerminal) this.freshLine();
    const clean = stdout.isTTY === true ? sanitize(text) : sanitizeControls(text);
    const isTaken = stdout.write(clean.endsWith("\n") ? clean : `${clean}\n`);
    if (isShared) this.#isAtStart = true;
    if (!isTaken) await drained(stdout);
  }

  /** Ends a row that something stands in. */
  freshLine(): void {
    this.#carry = "";
    if (!this.#isAtStart) this.#put("\n", true);
  }

  /** The prompt of the keyboard was drawn, or the row of it was ended. */
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
    return this.#styled(style, text);
  }

  #line(text: string, style: Style): void {
    this.freshLine();
    this.#put(`${this.#styled(style, sanitize(text))}\n`, true);
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

  #styled(style: Style, text: string): string {
    return styled(this.#options.stderr, this.#options.env, style, text);
  }
}
