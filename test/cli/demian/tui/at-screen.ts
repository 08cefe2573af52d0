// Helpers to drive the screen of demian in a real terminal.
import { vi } from "vitest";
import type { TmuxTerminal } from "../../../support/tmux.ts";

/** Shown, and ready for a message. */
export async function ready(screen: TmuxTerminal): Promise<TmuxTerminal> {
  await screen.until(/idle[\s\S]*Enter send/);
  return screen;
}

/** Waits until the text is on the screen before pressing Enter. */
export async function send(screen: TmuxTerminal, text: string): Promise<void> {
  screen.type(text);
  await screen.until(text.slice(-20));
  screen.press("Enter");
}

/**
 * A key pressed too soon after a request appears does not answer it; once its details were opened, the next one does.
 */
export async function asked(screen: TmuxTerminal, what: string | RegExp): Promise<string> {
  await screen.until(what);
  screen.press("C-o");
  await screen.until("· details ─");
  screen.press("C-o");
  await screen.untilGone("· details ─");
  return screen.until(what);
}

/** Presses the key until the request is gone; one that follows another key too soon is ignored. */
export async function decide(screen: TmuxTerminal, key: string, what: string | RegExp): Promise<void> {
  await vi.waitFor(
    async () => {
      screen.press(key);
      await screen.untilGone(what, 1_200);
    },
    { timeout: 45_000 },
  );
}
