// The terminal: raw mode, alternate screen, bracketed paste, mouse and kitty keys, all restored on every way out. It
// decodes input and writes only the rows that changed.
import type { Decoded } from "./keys/decode.ts";
import { KeyReader } from "./keys/reader.ts";
import { EMPTY_FRAME, type Frame, paint } from "./paint.ts";
import type { Input, Size, TerminalIo } from "./screen-types.ts";

export interface TerminalEvents {
  onInput(inputs: readonly Input[]): void;
  onSize(): void;
  onFocus(isFocused: boolean): void;
  /** Called when we take over the terminal and when we hand it back, e.g. on suspend. */
  onShown(isShown: boolean): void;
  /** A signal arrived or the terminal is gone; the app should exit with this code. */
  onEnd(code: number): void;
}

const CLEAR = "\x1b[0m\x1b[H\x1b[2J";
const ENTER = `\x1b[?1049h\x1b[?2004h\x1b[?7l\x1b[?25l${CLEAR}`;
const LEAVE = `${CLEAR}\x1b[?7h\x1b[?2004l\x1b[?25h\x1b[?1049l`;
/** Clicks and wheel, SGR encoding. Without this many terminals send the wheel as arrow keys. */
const MOUSE_ON = "\x1b[?1000h\x1b[?1006h";
const MOUSE_OFF = "\x1b[?1006l\x1b[?1000l";
/** Queries support for the kitty keyboard protocol, which is enabled on a positive reply. */
const ASK_KITTY = "\x1b[?u";
const KITTY_ON = "\x1b[>1u";
const KITTY_OFF = "\x1b[<u";
const SIGNALS = { SIGTERM: 143, SIGHUP: 129, SIGINT: 130 } as const;
/** SIGTSTP takes effect within this time, or never (without a job-control shell nothing could continue us). */
const STOPPING_MS = 100;
const SMALLEST: Size = { columns: 20, rows: 4 };

export class Terminal {
  readonly #io: TerminalIo;
  readonly #events: TerminalEvents;
  readonly #reader: KeyReader;
  readonly #undo: (() => void)[] = [];
  #shown: Frame = EMPTY_FRAME;
  #isOurs = false;
  #hasKitty = false;
  #hasMouse = true;
  #isLeft = false;

  constructor(io: TerminalIo, events: TerminalEvents) {
    this.#io = io;
    this.#events = events;
    this.#reader = new KeyReader((inputs) => this.#onKeys(inputs));
  }

  get size(): Size {
    const { columns, rows } = this.#io.stdout;
    return {
      columns: Math.max(SMALLEST.columns, columns || 80),
      rows: Math.max(SMALLEST.rows, rows || 24),
    };
  }

  enter(): void {
    const { stdin, stdout } = this.#io;
    this.#listen(stdin, "data", (bytes: Buffer) => this.#reader.push(bytes));
    this.#listen(stdin, "end", () => this.#events.onEnd(SIGNALS.SIGHUP));
    this.#listen(stdin, "error", () => this.#events.onEnd(SIGNALS.SIGHUP));
    this.#listen(stdout, "error", () => this.#events.onEnd(SIGNALS.SIGHUP));
    this.#listen(stdout, "resize", () => this.#events.onSize());
    for (const [signal, code] of Object.entries(SIGNALS)) {
      this.#listen(process, signal, () => this.#events.onEnd(code));
    }
    this.#listen(process, "SIGCONT", () => this.#take());
    this.#listen(process, "SIGTSTP", this.#onStop);
    // Last resort: however the process ends, restore the terminal.
    this.#listen(process, "exit", () => this.#giveBack());
    stdin.resume();
    this.#take();
  }

  draw({ rows, cursor }: Frame): void {
    if (!this.#isOurs) return;
    const next = { rows: rows.slice(0, this.size.rows), cursor };
    const change = paint(this.#shown, next);
    this.#shown = next;
    if (change !== "") this.#write(change);
  }

  /** Clears the screen; the next frame is written in full. */
  clear(): void {
    this.#shown = EMPTY_FRAME;
    this.write(CLEAR);
  }

  /** Like Ctrl-Z in a shell: stops the whole job, including our parent; SIGCONT resumes it. */
  suspend(): void {
    this.#stop(0);
  }

  /** Switches the mouse between us (wheel scrolls) and the terminal (selects text). Returns whether it is ours. */
  turnMouse(): boolean {
    this.#hasMouse = !this.#hasMouse;
    this.write(this.#hasMouse ? MOUSE_ON : MOUSE_OFF);
    return this.#hasMouse;
  }

  write(sequence: string): void {
    if (this.#isOurs) this.#write(sequence);
  }

  /** Restores the terminal. Signals stay handled, so that an extra Ctrl-C cannot cut the cleanup short. */
  leave(): void {
    this.#giveBack();
    this.#isLeft = true;
    this.#io.stdin.pause();
  }

  /** Removes all listeners; call after `leave`. */
  close(): void {
    for (const undo of this.#undo.splice(0)) undo();
  }

  readonly #onStop = (): void => this.#stop(process.pid);

  #stop(pid: number): void {
    this.#giveBack();
    // Without a listener the signal has its default effect.
    process.off("SIGTSTP", this.#onStop);
    process.kill(pid, "SIGTSTP");
    process.on("SIGTSTP", this.#onStop);
    setTimeout(() => {
      if (!this.#isOurs) this.#take();
    }, STOPPING_MS);
  }

  #take(): void {
    if (this.#isLeft) return;
    const enter = ENTER + (this.#hasMouse ? MOUSE_ON : "");
    this.#raw(true);
    if (this.#isOurs) {
      // Continued after a SIGSTOP we could not see: the shell may have changed the terminal.
      this.#write(enter);
    } else {
      this.#isOurs = true;
      this.#write(enter + ASK_KITTY);
      this.#events.onShown(true);
    }
    this.#events.onSize();
  }

  #giveBack(): void {
    if (!this.#isOurs) return;
    this.#events.onShown(false);
    this.#shown = EMPTY_FRAME;
    this.#write((this.#hasKitty ? KITTY_OFF : "") + MOUSE_OFF + LEAVE);
    this.#isOurs = false;
    this.#hasKitty = false;
    this.#raw(false);
  }

  #onKeys(decoded: readonly Decoded[]): void {
    const inputs = decoded.filter((one) => one.kind !== "reply");
    for (const one of decoded) if (one.kind === "reply") this.#onReply(one.text);
    if (inputs.length > 0) this.#events.onInput(inputs);
  }

  #onReply(text: string): void {
    if (text === "\x1b[I" || text === "\x1b[O") {
      this.#events.onFocus(text === "\x1b[I");
      return;
    }
    const isKitty = text.startsWith("\x1b[?") && /^\d+u$/.test(text.slice(3));
    if (!isKitty || this.#hasKitty || !this.#isOurs) return;
    this.#hasKitty = true;
    this.#write(KITTY_ON);
  }

  #raw(isRaw: boolean): void {
    try {
      this.#io.stdin.setRawMode(isRaw);
    } catch {
      // the terminal is gone
    }
  }

  #write(text: string): void {
    try {
      this.#io.stdout.write(text);
    } catch {
      // the terminal is gone; `onEnd` reports it
    }
  }

  #listen(emitter: NodeJS.EventEmitter, name: string, listener: (...given: never[]) => void): void {
    emitter.on(name, listener as (...given: unknown[]) => void);
    this.#undo.push(() => emitter.off(name, listener as (...given: unknown[]) => void));
  }
}
