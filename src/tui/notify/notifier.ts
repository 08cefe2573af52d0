// Tells a person who looks elsewhere: the title of the window, the bell, a message of the desktop. The one place of the
// terminal UI that writes these.
import type { News } from "../types.ts";
import { decide, keyOf, notifyMode } from "./decide.ts";
import {
  BELL,
  FOCUS_OFF,
  FOCUS_ON,
  messageSequence,
  POP_TITLE,
  PUSH_TITLE,
  titleSequence,
} from "./sequences.ts";
import { terminalTraits, traitsInTmux } from "./terminal.ts";

export interface NotifierOptions {
  env: Readonly<Record<string, string | undefined>>;
  write(text: string): void;
  /** What tmux answers to TMUX_QUESTION; absent: it is not asked. */
  askTmux?: () => Promise<string>;
  now?: () => number;
}

export interface Notifier {
  /** The screen is ours: also again, behind a `stop`. */
  start(): void;
  /** Whatever others wrote may stand in it. Written only when it is another than before. */
  title(text: string): void;
  /** What the terminal says of its focus. */
  focused(isFocused: boolean): void;
  tell(news: News): void;
  /** Gives the terminal back. Safe to call twice. */
  stop(): void;
}

/** So many are remembered, to tell nothing twice. */
const MAX_TOLD = 200;

export function createNotifier({ env, write, askTmux, now = Date.now }: NotifierOptions): Notifier {
  const mode = notifyMode(env);
  let traits = terminalTraits(env);
  const told = new Map<string, number>();
  let isOn = false;
  let isFocused: boolean | undefined;
  let title: string | undefined;
  if (mode === "all" && askTmux !== undefined && env["TMUX"] !== undefined) {
    // A tmux that does not answer: no messages, as before.
    askTmux().then(
      (answer) => {
        traits = traitsInTmux(traits, answer);
      },
      () => undefined,
    );
  }
  const hasTitle = mode !== "off" && traits.hasTitle;
  const hasSound = mode === "bell" || mode === "all";
  return {
    start() {
      if (isOn) return;
      isOn = true;
      title = undefined;
      write(`${hasTitle ? PUSH_TITLE : ""}${hasSound ? FOCUS_ON : ""}`);
    },
    title(text) {
      if (!isOn || !hasTitle || text === title) return;
      title = text;
      write(titleSequence(text));
    },
    focused(value) {
      isFocused = value;
    },
    tell(news) {
      const nowMs = now();
      const { bell, desktop } = decide(news, { mode, isFocused, told, nowMs });
      if (!isOn || !bell) return;
      told.delete(keyOf(news));
      told.set(keyOf(news), nowMs);
      for (const key of [...told.keys()].slice(0, Math.max(0, told.size - MAX_TOLD))) told.delete(key);
      write(`${BELL}${desktop ? messageSequence(news.text, traits) : ""}`);
    },
    stop() {
      if (!isOn) return;
      isOn = false;
      isFocused = undefined;
      write(`${hasSound ? FOCUS_OFF : ""}${hasTitle ? POP_TITLE : ""}`);
    },
  };
}
