// The prompt on a terminal: line editing, history, completion; frames are printed above the line being typed.
import { readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import {
  clearLine,
  clearScreenDown,
  createInterface,
  cursorTo,
  type Interface,
  moveCursor,
} from "node:readline";
import { complete } from "./complete.ts";
import type { ShellContext } from "./context.ts";
import type { Repl } from "./repl.ts";

const HISTORY_SIZE = 1000;
/** A line this soon after the request was typed for something else. */
const TOO_EARLY_MS = 300;

export interface WireTerminal {
  input: NodeJS.ReadStream;
  output: NodeJS.WriteStream;
}

/** Prints above the prompt, if there is one. */
export class PromptLine {
  readonly #output: NodeJS.WriteStream;
  #interface: Interface | undefined;

  constructor(output: NodeJS.WriteStream) {
    this.#output = output;
  }

  attach(lines: Interface | undefined): void {
    this.#interface = lines;
  }

  print(text: string): void {
    if (this.#interface === undefined) {
      this.#output.write(`${text}\n`);
      return;
    }
    cursorTo(this.#output, 0);
    clearLine(this.#output, 0);
    this.#output.write(`${text}\n`);
    this.#interface.prompt(true);
  }
}

/** Reads lines while the program prints. No history: a line may be a password. */
export function createLineReader(
  input: NodeJS.ReadStream,
  output: NodeJS.WriteStream,
): NonNullable<ShellContext["readLines"]> {
  return (prompt, onLine) => {
    const lines = createInterface({ input, output, prompt, historySize: 0 });
    let isOpen = true;
    let askedMs = performance.now();
    const hide = (): void => {
      moveCursor(output, 0, -lines.getCursorPos().rows);
      cursorTo(output, 0);
      clearScreenDown(output);
      // Otherwise readline moves up before drawing, over the text printed in the meantime.
      (lines as { prevRows?: number }).prevRows = 0;
    };
    lines.on("line", (line) => {
      if (performance.now() - askedMs < TOO_EARLY_MS) {
        output.write("✗ typed before the request appeared; type it again\n");
        lines.prompt();
        return;
      }
      void onLine(line).then(() => {
        if (isOpen) lines.prompt();
      });
    });
    // readline intercepts Ctrl-C; pass it on to the process.
    lines.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
    lines.prompt();
    const close = (): void => {
      isOpen = false;
      hide();
      lines.close();
    };
    const show = (text: string, isAnother: boolean): void => {
      lines.setPrompt(text);
      if (isAnother) {
        askedMs = performance.now();
        lines.write(null, { ctrl: true, name: "e" });
        lines.write(null, { ctrl: true, name: "u" });
      }
      lines.prompt(true);
    };
    return { hide, show, close };
  };
}

export async function runPrompt(
  terminal: WireTerminal,
  prompt: string,
  line: PromptLine,
  repl: Repl,
): Promise<void> {
  const file = join(homedir(), ".blemees_history");
  const lines = createInterface({
    ...terminal,
    prompt,
    history: readHistory(file),
    historySize: HISTORY_SIZE,
    removeHistoryDuplicates: true,
    completer: (typed: string) => complete(typed, repl),
  });
  let history: string[] = [];
  lines.on("history", (all: string[]) => {
    history = all;
  });
  // As in a shell: Ctrl-C clears the line, and exits if it is empty.
  lines.on("SIGINT", () => {
    if (lines.line === "") {
      lines.close();
      return;
    }
    lines.write(null, { ctrl: true, name: "e" });
    lines.write(null, { ctrl: true, name: "u" });
  });
  line.attach(lines);
  lines.prompt();
  for await (const typed of lines) {
    await repl.execute(typed);
    if (repl.isOver) break;
    lines.prompt();
  }
  line.attach(undefined);
  lines.close();
  if (history.length > 0) writeHistory(file, history);
}

/** Newest first for readline; the file has the newest last. */
function readHistory(file: string): string[] {
  try {
    return readFileSync(file, "utf8").split("\n").filter(Boolean).reverse().slice(0, HISTORY_SIZE);
  } catch {
    return []; // no history yet
  }
}

/** Private to the user, because it contains prompts. Answers are omitted: they may be passwords. */
function writeHistory(file: string, history: readonly string[]): void {
  const kept = history.filter((line) => !/^\s*answer\b/.test(line));
  try {
    writeFileSync(file, `${kept.reverse().join("\n")}\n`, { mode: 0o600 });
  } catch {
    // a read-only home is not an error
  }
}
