// What the screens and the app that shows them know of each other. Only types: the app is app.tsx, the terminal below
// it render.tsx; a screen keeps its own state, draws it on demand and is told what was typed.
import type { ReactElement } from "react";
import type { News } from "./types.ts";

export interface Size {
  columns: number;
  rows: number;
}

/**
 * What was typed. `key`: a chord by its name, modifiers in the order ctrl-alt-shift-: "ctrl-c", "alt-enter", "up",
 * "shift-tab", "pageup", "f1", "escape", "enter", "backspace", "wheelup". `text`: one printable character. `paste`: a whole
 * paste, which is never a key.
 */
export type Input =
  | { kind: "key"; chord: string }
  | { kind: "text"; text: string }
  | { kind: "paste"; text: string };

/** A screen, from when it is opened until it is closed; it may be covered by another meanwhile. */
export interface Screen {
  /** For the title of the terminal; others wrote it, so it is made safe where it is set. */
  title(): string;
  onInput(input: Input): void;
  /** Draws what is there now: pure, called whenever the app said `changed` or the size is another. */
  draw(size: Size): ReactElement;
  /** It is on top again, or no longer. */
  onShown?(isShown: boolean): void;
  close(): Promise<void>;
}

/** What the app gives a screen that is opened. */
export interface App {
  readonly look: Look;
  size(): Size;
  /** Something is to be drawn: `now` because of a key, `soon` because of what came from the session. */
  changed(when: "now" | "soon"): void;
  /** Shows another screen on top of this one. */
  open(opener: Opener): void;
  /** Closes the screen on top; the last one closed ends the app. */
  back(): void;
  /** Whether there is a screen below the one that is being opened. */
  canGoBack(): boolean;
  /** Ends the app with this exit code. */
  leave(code: number): void;
  /** Stops the program like Ctrl-Z in a shell does. */
  suspend(): void;
  /** Draws everything anew. */
  repaint(): void;
  /** Whether the mouse is for the screen (its wheel scrolls) or for the terminal (it selects text): the other one. */
  turnMouse(): boolean;
  notify(news: News): void;
}

export type Opener = (app: App) => Screen;

/** How things may look on this terminal. */
export interface Look {
  hasColour: boolean;
  /** Only ASCII: the locale is no UTF-8. */
  isAscii: boolean;
}

/** The terminal that a program runs in. */
export interface TerminalIo {
  stdin: NodeJS.ReadStream;
  stdout: NodeJS.WriteStream;
  env: Readonly<Record<string, string | undefined>>;
}
