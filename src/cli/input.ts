// Reads stdin, Ctrl-C and confirmations.
import { fstatSync } from "node:fs";
import { createInterface } from "node:readline";

/** All of stdin; undefined when it is a terminal. */
export async function readInput(): Promise<string | undefined> {
  if (process.stdin.isTTY) return undefined;
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

/** Whether stdin is a pipe or a file, not a terminal or /dev/null. */
export function hasInput(): boolean {
  try {
    const stats = fstatSync(0);
    return stats.isFIFO() || stats.isFile() || stats.isSocket();
  } catch {
    return false; // stdin is closed
  }
}

/** The first Ctrl-C aborts the signal, the second exits. */
export function abortOnInterrupt(): AbortSignal {
  const abort = new AbortController();
  process.on("SIGINT", () => {
    if (abort.signal.aborted) process.exit(1);
    abort.abort();
  });
  return abort.signal;
}

/** Asks on the terminal. Anything but yes is no, including Ctrl-C and Ctrl-D. */
export function confirm(question: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  return new Promise((resolve) => {
    lines.once("SIGINT", () => lines.close());
    lines.once("close", () => resolve(false));
    lines.question(`${question} [y/N] `, (answer) => {
      resolve(/^y(es)?$/i.test(answer.trim()));
      lines.close();
    });
  });
}
