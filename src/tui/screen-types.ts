// The contract between the app (app.ts) and its screens: a screen keeps its own state, handles input and draws on demand.
import type { Frame } from "./paint.ts";
import type { Notification } from "./types.ts";

export interface Size {
  columns: number;
  rows: number;
}

/**
 * User input. `key`: a chord by name, modifiers in the order ctrl-alt-shift-: "ctrl-c", "alt-enter", "up", "shift-tab",
 * "pageup", "f1", "escape", "enter", "backspace", "wheelup". `text`: one printable character. `paste`: a whole paste,
 * never treated as keys.
 */
export type Input =
  | { kind: "key"; chord: string }
  | { kind: "text"; text: string }
  | { kind: "paste"; text: string };

/** An open screen. Another screen may cover it. */
export interface Screen {
  /** The terminal title. Untrusted text; sanitized where it is written. */
  title(): string;
  onInput(input: Input): void;
  /** Draws the current state; called after `App.changed` and on resize. */
  draw(size: Size): Frame;
  /** The screen came to the top, or was covered. */
  onShown?(isShown: boolean): void;
  close(): Promise<void>;
}

/** What a screen can ask of the app. */
export interface App {
  readonly look: Look;
  size(): Size;
  /** Requests a redraw: `now` after a key, `soon` (at most one per frame interval) after session events. */
  redraw(when: "now" | "soon"): void;
  /** Opens another screen on top. */
  open(opener: Opener): void;
  /** Closes the top screen; closing the last one exits the app. */
  back(): void;
  /** Whether a screen being opened has another one below it. */
  canGoBack(): boolean;
  /** Exits the app with this code. */
  leave(code: number): void;
  /** Suspends the program, like Ctrl-Z in a shell. */
  suspend(): void;
  /** Clears the terminal and redraws. */
  repaint(): void;
  /** Switches the mouse between the screen (wheel scrolls) and the terminal (selects text); true if it is the screen. */
  turnMouse(): boolean;
  notify(news: Notification): void;
}

export type Opener = (app: App) => Screen;

/** What this terminal can display. */
export interface Look {
  hasColor: boolean;
  /** The locale is not UTF-8: use ASCII only. */
  isAscii: boolean;
}

/** The terminal the program runs in. */
export interface TerminalIo {
  stdin: NodeJS.ReadStream;
  stdout: NodeJS.WriteStream;
  env: Readonly<Record<string, string | undefined>>;
}
