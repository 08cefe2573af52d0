// How a person meets the screen of demian, for tests in a real terminal.
import { vi } from "vitest";
import type { TmuxTerminal } from "../../../support/tmux.ts";

/** There, and ready for a message. */
export async function ready(screen: TmuxTerminal): Promise<TmuxTerminal> {
  await screen.until(/idle[\s\S]*Enter sends/);
  return screen;
}

/** What is typed stands there before Enter. */
export async function send(screen: TmuxTerminal, text: string): Promise<void> {
  screen.type(text);
  await screen.until(text.slice(-20));
  screen.press("Enter");
}

/** A key that was hardly meant for the request does not answer it; once its details were looked at, the next one does. */
export async function asked(screen: TmuxTerminal, what: string | RegExp): Promise<string> {
  await screen.until(what);
  screen.press("C-o");
  await screen.until("· details ─");
  screen.press("C-o");
  await screen.untilGone("· details ─");
  return screen.until(what);
}

/** Decides with this key, again where it came too soon behind another one; until what is asked is gone. */
export async function decide(screen: TmuxTerminal, key: string, what: string | RegExp): Promise<void> {
  await vi.waitFor(
    async () => {
      screen.press(key);
      await screen.untilGone(what, 1_200);
    },
    { timeout: 45_000 },
  );
}
