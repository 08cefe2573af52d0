// Whether a person is told, and how: pure, so that every rule is a test. The bytes are sequences.ts.
import { CodedError } from "../../base/coded-error.ts";
import type { News } from "../types.ts";

/** `title`: only the title of the window. `bell`: also the bell. `all`: also messages of the desktop. */
export const NOTIFY_MODES = ["off", "title", "bell", "all"] as const;
export type NotifyMode = (typeof NOTIFY_MODES)[number];

export interface Situation {
  mode: NotifyMode;
  /** Whether the person looks at this terminal; undefined: it does not say. */
  isFocused: boolean | undefined;
  /** What was told before, by session and kind, with the time. */
  told: ReadonlyMap<string, number>;
  nowMs: number;
}

export interface Telling {
  bell: boolean;
  desktop: boolean;
}

/** The same thing seen by two screens, or by two streams, is one thing. */
const SAME_MS = 2_000;
const NOTHING: Telling = { bell: false, desktop: false };

export function decide(news: News, { mode, isFocused, told, nowMs }: Situation): Telling {
  if (mode === "off" || mode === "title") return NOTHING;
  if (nowMs - (told.get(keyOf(news)) ?? Number.NEGATIVE_INFINITY) < SAME_MS) return NOTHING;
  // Who looks here sees it. Where the terminal does not say, only what waits is worth a sound: a turn that ends is
  // what one sits and waits for.
  if (isFocused === true) return NOTHING;
  if (isFocused === undefined && news.kind !== "waits") return NOTHING;
  return { bell: true, desktop: mode === "all" };
}

export function keyOf({ session_id, kind }: News): string {
  return `${kind} ${session_id}`;
}

/** What BLEMEES_NOTIFY says. Throws when it is none of the words: who asked for silence must not hear a bell. */
export function notifyMode(env: Readonly<Record<string, string | undefined>>): NotifyMode {
  const word = env["BLEMEES_NOTIFY"]?.trim().toLowerCase() || "all";
  const mode = NOTIFY_MODES.find((known) => known === word);
  if (mode !== undefined) return mode;
  throw new CodedError(
    "bad_setting",
    `BLEMEES_NOTIFY is ${JSON.stringify(word)}; set it to ${NOTIFY_MODES.join(", ")}, or leave it out`,
  );
}
