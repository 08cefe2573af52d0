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
  /** What a person types, line by line; absent when nobody sits at a terminal. */
  readLines?(prompt: string, onLine: (line: string) => Promise<void>): LineReader;
}

export interface LineReader {
  /** Takes the prompt off the screen, so that something can be printed. */
  hide(): void;
  /** Puts it back, with what was typed so far; that is dropped when it was meant for another prompt. */
  show(prompt: string, isAnother: boolean): void;
  close(): void;
}

export async function show(context: ShellContext, frame: object, lines: () => string[]): Promise<number> {
  if (context.isJson) await context.output.json(frame);
  else for (const line of lines()) await context.output.line(line);
  return 0;
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
