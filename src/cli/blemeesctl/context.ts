// What a verb in the shell works with.
import type { ConnectOptions } from "../../client/index.ts";
import type { Output } from "../output.ts";

export interface ShellContext {
  output: Output;
  /** Print frames as JSON lines instead of text. */
  isJson: boolean;
  /** How to reach the daemon. */
  daemon: { socket?: string; client: string };
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
  /** What stands on stdin; undefined when it is a terminal. */
  readInput(): Promise<string | undefined>;
}

/** For verbs that last: a daemon that is restarted meanwhile is found again. */
export function patiently({ output }: ShellContext): ConnectOptions {
  return {
    reconnect: { attempts: 20 },
    onReconnecting: ({ attempt, cause }) => {
      if (attempt === 1) output.note(`· ${cause.message}; reconnecting`);
    },
    onReconnected: () => output.note("· reconnected"),
  };
}
