// Decides whether and how to notify. Pure; the escape sequences are in sequences.ts.
import { CodedError } from "../../base/coded-error.ts";
import type { Notification } from "../types.ts";

/** `title`: only the window title. `bell`: also the bell. `all`: also desktop notifications. */
export const NOTIFY_MODES = ["off", "title", "bell", "all"] as const;
export type NotifyMode = (typeof NOTIFY_MODES)[number];

export interface Situation {
  mode: NotifyMode;
  /** Whether the terminal has focus; undefined if it does not report it. */
  isFocused: boolean | undefined;
  /** Times of earlier notifications, by session and kind. */
  reported: ReadonlyMap<string, number>;
  nowMs: number;
}

export interface Signals {
  bell: boolean;
  desktop: boolean;
}

/** Repeats within this time are one event seen twice. */
const SAME_MS = 2_000;
const NO_SIGNALS: Signals = { bell: false, desktop: false };

export function decide(news: Notification, { mode, isFocused, reported, nowMs }: Situation): Signals {
  if (mode === "off" || mode === "title") return NO_SIGNALS;
  if (nowMs - (reported.get(toKey(news)) ?? Number.NEGATIVE_INFINITY) < SAME_MS) return NO_SIGNALS;
  // A focused terminal needs no signal. If focus is unknown, only a pending request rings: users usually watch a turn
  // end.
  if (isFocused === true) return NO_SIGNALS;
  if (isFocused === undefined && news.kind !== "waits") return NO_SIGNALS;
  return { bell: true, desktop: mode === "all" };
}

export function toKey({ session_id, kind }: Notification): string {
  return `${kind} ${session_id}`;
}

/** Reads BLEMEES_NOTIFY. Throws on an unknown value, because a typo must not turn silence into a bell. */
export function notifyMode(env: Readonly<Record<string, string | undefined>>): NotifyMode {
  const word = env["BLEMEES_NOTIFY"]?.trim().toLowerCase() || "all";
  const mode = NOTIFY_MODES.find((known) => known === word);
  if (mode !== undefined) return mode;
  throw new CodedError(
    "bad_setting",
    `BLEMEES_NOTIFY is ${JSON.stringify(word)}; set it to ${NOTIFY_MODES.join(", ")}, or unset it`,
  );
}
