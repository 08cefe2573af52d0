// What a verb in the shell gets besides its arguments.
import type { ConnectOptions } from "../../client/index.ts";
import type { RequestContext } from "../requests.ts";

export interface ShellContext extends RequestContext {
  /** How to reach the daemon. */
  daemon: { socket?: string; client: string };
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
  /** Lines typed by the user; absent without a terminal. */
  readLines?(prompt: string, onLine: (line: string) => Promise<void>): LineReader;
}

export interface LineReader {
  /** Hides the prompt, so that something can be printed. */
  hide(): void;
  /** Shows it again with what was typed so far, which is dropped if the prompt is a different one. */
  show(prompt: string, isAnother: boolean): void;
  close(): void;
}

/** Options of long-running verbs: reconnect after a restart of the daemon. */
export function reconnectOptions({ output }: ShellContext): ConnectOptions {
  return {
    reconnect: { attempts: 20 },
    onReconnecting: ({ attempt, cause }) => {
      if (attempt === 1) output.note(`· ${cause.message}; reconnecting`);
    },
    onReconnected: () => output.note("· reconnected"),
  };
}
