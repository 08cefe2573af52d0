// Which screen is shown: a stack of them, one on top. It gives keys to the one on top and draws it, at once after a
// key, and at most some times a second for what comes from the sessions.

import { askTmux } from "./notify/ask-tmux.ts";
import { createNotifier, type Notifier } from "./notify/notifier.ts";
import { Terminal } from "./render.tsx";
import type { App, Input, Look, Opener, Screen, TerminalIo } from "./screen-types.ts";
import type { News } from "./types.ts";

export interface AppOptions {
  io: TerminalIo;
  first: Opener;
  notify?: (news: News) => void;
}

const FRAME_MS = 66;
const CLOSING_MS = 2_000;

/** Gives the exit code once the last screen is closed. */
export async function openApp(options: AppOptions): Promise<number> {
  const app = new ScreenApp(options);
  return app.run();
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
    this.look = lookOf(options.io.env);
    const { env } = options.io;
    this.#notifier = createNotifier({ env, askTmux, write: (text) => this.#terminal.write(text) });
    this.#terminal = new Terminal(options.io, {
      onInput: (inputs) => this.#onInput(inputs),
      onSize: () => this.repaint(),
      onFocus: (isFocused) => this.#notifier.focused(isFocused),
      onShown: (isShown) => (isShown ? this.#notifier.start() : this.#notifier.stop()),
      onEnd: (code) => this.leave(code),
    });
  }

  async run(): Promise<number> {
    const done = new Promise<number>((resolve, reject) => {
      this.#end = resolve;
      this.#fail = reject;
    });
    // What nobody caught must not leave the terminal in a state where its message cannot be read.
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
      await this.#closed();
      this.#terminal.close();
    }
  }

  size() {
    return this.#terminal.size;
  }

  changed(when: "now" | "soon"): void {
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
    this.changed("now");
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
    this.changed("now");
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
    this.changed("now");
  }

  turnMouse(): boolean {
    return this.#terminal.turnMouse();
  }

  notify(news: News): void {
    this.#notifier.tell(news);
    this.#options.notify?.(news);
  }

  #onInput(inputs: readonly Input[]): void {
    try {
      // A key may open or close a screen: each goes to the one that is on top then.
      for (const input of inputs) this.#screens.at(-1)?.onInput(input);
    } catch (error) {
      this.#fail(error);
      return;
    }
    this.changed("now");
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
    const closing = screen.close().catch(() => undefined); // it is closed as far as it can be
    this.#closing.add(closing);
    void closing.then(() => this.#closing.delete(closing));
  }

  /** A session that does not let go must not keep the person from their shell. */
  async #closed(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, CLOSING_MS);
    });
    await Promise.race([Promise.all(this.#closing), late]);
    clearTimeout(timer);
  }
}

/** Names of terminals that have none. */
const MONOCHROME = /^(vt\d+|unknown|.*-m(ono)?)$/;

/** https://no-color.org; a locale that is set and is no UTF-8 gets ASCII. */
export function lookOf(env: TerminalIo["env"]): Look {
  const locale = env["LC_ALL"] || env["LC_CTYPE"] || env["LANG"] || "";
  const isAscii = /^(C|POSIX)$/.test(locale) || (locale.includes(".") && !/utf-?8/i.test(locale));
  return { hasColour: !env["NO_COLOR"] && !MONOCHROME.test(env["TERM"] ?? ""), isAscii };
}
