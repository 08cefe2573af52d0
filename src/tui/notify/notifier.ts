// Notifies a user who looks elsewhere: window title, bell, desktop notification. Nothing else in the terminal UI writes
// these.
import type { Notification } from "../types.ts";
import { decide, notifyMode, toKey } from "./decide.ts";
import {
  BELL,
  FOCUS_OFF,
  FOCUS_ON,
  makeMessageSequence,
  makeTitleSequence,
  POP_TITLE,
  PUSH_TITLE,
} from "./sequences.ts";
import { detectTraits, detectTraitsInTmux } from "./terminal.ts";

export interface NotifierOptions {
  env: Readonly<Record<string, string | undefined>>;
  write(text: string): void;
  /** Returns tmux's answer to TMUX_QUESTION; absent: do not ask. */
  askTmux?: () => Promise<string>;
  now?: () => number;
}

export interface Notifier {
  /** Called when we take over the terminal, also again after `stop`. */
  start(): void;
  /** Sets the window title. May contain untrusted text; written only if it changed. */
  title(text: string): void;
  setFocus(isFocused: boolean): void;
  notify(news: Notification): void;
  /** Restores title and focus reporting. Safe to call twice. */
  stop(): void;
}

/** How many notifications are remembered, to avoid repeats. */
const MAX_REPORTED = 200;

export function createNotifier({ env, write, askTmux, now = Date.now }: NotifierOptions): Notifier {
  const mode = notifyMode(env);
  let traits = detectTraits(env);
  const reported = new Map<string, number>();
  let isOn = false;
  let isFocused: boolean | undefined;
  let title: string | undefined;
  if (mode === "all" && askTmux !== undefined && env["TMUX"] !== undefined) {
    // Without an answer there are no desktop notifications.
    askTmux().then(
      (answer) => {
        traits = detectTraitsInTmux(traits, answer);
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
      write(makeTitleSequence(text));
    },
    setFocus(value) {
      isFocused = value;
    },
    notify(news) {
      const nowMs = now();
      const { bell, desktop } = decide(news, { mode, isFocused, reported, nowMs });
      if (!isOn || !bell) return;
      reported.delete(toKey(news));
      reported.set(toKey(news), nowMs);
      for (const key of [...reported.keys()].slice(0, Math.max(0, reported.size - MAX_REPORTED)))
        reported.delete(key);
      write(`${BELL}${desktop ? makeMessageSequence(news.text, traits) : ""}`);
    },
    stop() {
      if (!isOn) return;
      isOn = false;
      isFocused = undefined;
      write(`${hasSound ? FOCUS_OFF : ""}${hasTitle ? POP_TITLE : ""}`);
    },
  };
}
