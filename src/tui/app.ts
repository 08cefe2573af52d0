// A stack of screens. Input goes to the top one, which is redrawn at once after a key and at most once per FRAME_MS for
// session events.

import { createNotifier, type Notifier } from "./notify/notifier.ts";
import { askTmux } from "./notify/terminal.ts";
import type { App, Input, Look, Opener, Screen, TerminalIo } from "./screen-types.ts";
import { Terminal } from "./terminal.ts";
import type { Notification } from "./types.ts";

export interface AppOptions {
  io: TerminalIo;
  first: Opener;
  notify?: (news: Notification) => void;
}

/** The shortest time between two redraws for events; 15 per second keep text readable as it streams. */
export const FRAME_MS = 66;
const CLOSING_MS = 2_000;

/** Runs until the last screen is closed; returns the exit code. */
export function runApp(options: AppOptions): Promise<number> {
  return new ScreenApp(options).run();
}

class ScreenApp implements App {
  readonly look: Look;
  readonly #options: AppOptions;
  readonly #terminal: Terminal;
  readonly #notifier: Notifier;
  readonly #screens: Screen[] = [];
  readonly #closing = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | undefined;
  #drawn_ms = 0;
  #end: (code: number) => void = () => undefined;
  #fail: (error: unknown) => void = () => undefined;

  constructor(options: AppOptions) {
    this.#options = options;
    this.look = readLook(options.io.env);
    const { env } = options.io;
    this.#notifier = createNotifier({ env, askTmux, write: (text) => this.#terminal.write(text) });
    this.#terminal = new Terminal(options.io, {
      onInput: (inputs) => this.#onInput(inputs),
      onSize: () => this.repaint(),
      onFocus: (isFocused) => this.#notifier.setFocus(isFocused),
      onShown: (isShown) => (isShown ? this.#notifier.start() : this.#notifier.stop()),
      onEnd: (code) => this.leave(code),
    });
  }

  async run(): Promise<number> {
    const done = new Promise<number>((resolve, reject) => {
      this.#end = resolve;
      this.#fail = reject;
    });
    // Restore the terminal before an uncaught error is printed.
    const onError = (error: unknown): void => this.#fail(error);
    process.on("uncaughtException", onError);
    process.on("unhandledRejection", onError);
    this.#terminal.enter();
    try {
      this.open(this.#options.first);
      return await done;
    } finally {
      clearTimeout(this.#timer);
      this.#terminal.leave();
      process.off("uncaughtException", onError);
      process.off("unhandledRejection", onError);
      for (const screen of this.#screens.splice(0)) this.#close(screen);
      await this.#waitForClosing();
      this.#terminal.close();
    }
  }

  size() {
    return this.#terminal.size;
  }

  redraw(when: "now" | "soon"): void {
    if (when === "now") {
      this.#draw();
      return;
    }
    const wait = this.#drawn_ms + FRAME_MS - Date.now();
    this.#timer ??= setTimeout(() => this.#draw(), Math.max(0, wait));
  }

  open(opener: Opener): void {
    this.#screens.at(-1)?.onShown?.(false);
    try {
      this.#screens.push(opener(this));
    } catch (error) {
      this.#fail(error);
      return;
    }
    this.#screens.at(-1)?.onShown?.(true);
    this.redraw("now");
  }

  back(): void {
    const screen = this.#screens.pop();
    if (screen !== undefined) this.#close(screen);
    const below = this.#screens.at(-1);
    if (below === undefined) {
      this.leave(0);
      return;
    }
    below.onShown?.(true);
    this.redraw("now");
  }

  canGoBack(): boolean {
    return this.#screens.length > 0;
  }

  leave(code: number): void {
    this.#end(code);
  }

  suspend(): void {
    this.#terminal.suspend();
  }

  repaint(): void {
    this.#terminal.clear();
    this.redraw("now");
  }

  turnMouse(): boolean {
    return this.#terminal.turnMouse();
  }

  notify(news: Notification): void {
    this.#notifier.notify(news);
    this.#options.notify?.(news);
  }

  #onInput(inputs: readonly Input[]): void {
    try {
      // A key may open or close a screen, so look up the top one each time.
      for (const input of inputs) this.#screens.at(-1)?.onInput(input);
    } catch (error) {
      this.#fail(error);
      return;
    }
    this.redraw("now");
  }

  #draw(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#drawn_ms = Date.now();
    const screen = this.#screens.at(-1);
    if (screen === undefined) return;
    try {
      this.#terminal.draw(screen.draw(this.size()));
      this.#notifier.title(screen.title());
    } catch (error) {
      this.#fail(error);
    }
  }

  #close(screen: Screen): void {
    const closing = screen.close().catch(() => undefined); // nothing left to do for it
    this.#closing.add(closing);
    void closing.then(() => this.#closing.delete(closing));
  }

  /** Bounded: a session that does not close must not block the exit. */
  async #waitForClosing(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, CLOSING_MS);
    });
    await Promise.race([Promise.all(this.#closing), late]);
    clearTimeout(timer);
  }
}

/** Values of TERM without color. */
const MONOCHROME = /^(vt\d+|unknown|.*-m(ono)?)$/;

/** Honors NO_COLOR (https://no-color.org); a locale that is set but not UTF-8 gets ASCII. */
export function readLook(env: TerminalIo["env"]): Look {
  const locale = env["LC_ALL"] || env["LC_CTYPE"] || env["LANG"] || "";
  const isAscii = /^(C|POSIX)$/.test(locale) || (locale.includes(".") && !/utf-?8/i.test(locale));
  return { hasColor: !env["NO_COLOR"] && !MONOCHROME.test(env["TERM"] ?? ""), isAscii };
}
