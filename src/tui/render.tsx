// The terminal under the screens: alternate screen, raw mode, bracketed paste, cursor, all of it put back on every way
// out. Ink lays out each frame but neither reads the terminal nor writes it: its own way of writing cannot use the
// last row, and depends on where the cursor was left.
import { type Instance, render } from "ink";
import type { ReactElement } from "react";
import type { Decoded } from "./keys/decode.ts";
import { KeyReader } from "./keys/reader.ts";
import { filledFrame, ROW_MARK_COLUMNS, Wanted } from "./lines.tsx";
import { type Painted, paint } from "./paint.ts";
import type { Input, Size, TerminalIo } from "./screen-types.ts";

export interface TerminalEvents {
  onInput(inputs: readonly Input[]): void;
  onSize(): void;
  onFocus(isFocused: boolean): void;
  /** The screen is ours again, or no longer, because the program was stopped. */
  onShown(isShown: boolean): void;
  /** A signal or a lost terminal: the app ends with this code. */
  onEnd(code: number): void;
}

const CLEAR = "\x1b[0m\x1b[H\x1b[2J";
const ENTER = `\x1b[?1049h\x1b[?2004h\x1b[?7l\x1b[?25l${CLEAR}`;
const LEAVE = `${CLEAR}\x1b[?7h\x1b[?2004l\x1b[?25h\x1b[?1049l`;
/** Presses and the wheel, in the form without limits. Without it many terminals send the wheel as arrow keys. */
const MOUSE_ON = "\x1b[?1000h\x1b[?1006h";
const MOUSE_OFF = "\x1b[?1006l\x1b[?1000l";
/** Asks whether the terminal knows the kitty keyboard protocol; it is turned on when it says so. */
const ASK_KITTY = "\x1b[?u";
const KITTY_ON = "\x1b[>1u";
const KITTY_OFF = "\x1b[<u";
const SIGNALS = { SIGTERM: 143, SIGHUP: 129, SIGINT: 130 } as const;
/** By then a signal that stops us has done so; where nobody could continue us (no shell above) it does nothing. */
const STOPPING_MS = 100;
const SMALLEST: Size = { columns: 20, rows: 4 };
const NOTHING: Painted = { rows: [] };

export class Terminal {
  readonly #io: TerminalIo;
  readonly #events: TerminalEvents;
  readonly #reader: KeyReader;
  readonly #undo: (() => void)[] = [];
  readonly #wanted: { now: Painted } = { now: NOTHING };
  #ink: Instance | undefined;
  #painted: Painted = NOTHING;
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
    // The last way out: whatever ends the process, the terminal is put back.
    this.#listen(process, "exit", () => this.#giveBack());
    stdin.resume();
    this.#take();
  }

  /** Draws this instead of what is there. */
  draw(element: ReactElement): void {
    if (!this.#isOurs) return;
    const whole = <Wanted.Provider value={this.#wanted}>{element}</Wanted.Provider>;
    if (this.#ink !== undefined) {
      this.#ink.rerender(whole);
      return;
    }
    this.#ink = render(whole, {
      stdout: this.#frames(),
      stdin: this.#io.stdin,
      exitOnCtrlC: false,
      patchConsole: false,
      // Each frame whole, as soon as it is there.
      debug: true,
    });
  }

  /** Everything is drawn anew next time, over whatever stands there. */
  clear(): void {
    this.#unmount();
    this.#painted = NOTHING;
    this.write(CLEAR);
  }

  /** Like Ctrl-Z in a shell: stops the whole job, also the program that started this one; SIGCONT brings it back. */
  suspend(): void {
    this.#stop(0);
  }

  /** The mouse is for us (the wheel scrolls), or for the terminal (it selects text). Gives whether it is for us now. */
  turnMouse(): boolean {
    this.#hasMouse = !this.#hasMouse;
    this.write(this.#hasMouse ? MOUSE_ON : MOUSE_OFF);
    return this.#hasMouse;
  }

  write(sequence: string): void {
    if (this.#isOurs) this.#write(sequence);
  }

  /** The terminal is the shell's again. Signals are still ours: a Ctrl-C too many must not cut off what is being closed. */
  leave(): void {
    this.#giveBack();
    this.#isLeft = true;
    this.#io.stdin.pause();
  }

  /** Behind `leave`: nothing is listened to any more. */
  close(): void {
    for (const undo of this.#undo.splice(0)) undo();
  }

  readonly #onStop = (): void => this.#stop(process.pid);

  #stop(pid: number): void {
    this.#giveBack();
    // Without a listener the signal does what it always does.
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
      // Continued by somebody who stopped us in a way that cannot be seen: the shell may have changed the terminal.
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
    this.#unmount();
    this.#painted = NOTHING;
    this.#write((this.#hasKitty ? KITTY_OFF : "") + MOUSE_OFF + LEAVE);
    this.#isOurs = false;
    this.#hasKitty = false;
    this.#raw(false);
  }

  #unmount(): void {
    const ink = this.#ink;
    // First, so that the frame which Ink writes when it goes is left out.
    this.#ink = undefined;
    ink?.unmount();
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
      // the terminal is gone: there is nothing to set
    }
  }

  #write(text: string): void {
    try {
      this.#io.stdout.write(text);
    } catch {
      // the terminal is gone: whoever listens to its end knows
    }
  }

  #listen(emitter: NodeJS.EventEmitter, name: string, listener: (...given: never[]) => void): void {
    emitter.on(name, listener as (...given: unknown[]) => void);
    this.#undo.push(() => emitter.off(name, listener as (...given: unknown[]) => void));
  }

  #onFrame(frame: string): void {
    const { rows, cursor } = this.#wanted.now;
    const next = { rows: filledFrame(frame, rows).slice(0, this.size.rows), cursor };
    const change = paint(this.#painted, next);
    this.#painted = next;
    if (change !== "") this.#write(change);
  }

  /** What Ink takes for a terminal: it gets each frame, and has a size, but no events. */
  #frames(): NodeJS.WriteStream {
    const terminal = this;
    let isFirst = true;
    const stream = {
      isTTY: true,
      columns: ROW_MARK_COLUMNS,
      get rows() {
        return terminal.size.rows;
      },
      write(frame: string): boolean {
        // Mounting draws before `render` gives the instance.
        if (isFirst || terminal.#ink !== undefined) terminal.#onFrame(frame);
        isFirst = false;
        return true;
      },
      on: () => stream,
      off: () => stream,
    };
    return stream as unknown as NodeJS.WriteStream;
  }
}
