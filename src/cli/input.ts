// What a program takes from outside beside its arguments: stdin and Ctrl-C.
import { fstatSync } from "node:fs";
import { createInterface } from "node:readline";

/** All of stdin; undefined when it is a terminal. */
export async function readInput(): Promise<string | undefined> {
  if (process.stdin.isTTY) return undefined;
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

/** Whether something may have been put there for us: a terminal and /dev/null are not. */
export function hasInput(): boolean {
  try {
    const stats = fstatSync(0);
    return stats.isFIFO() || stats.isFile() || stats.isSocket();
  } catch {
    return false; // stdin is closed
  }
}

/** The first Ctrl-C asks politely, the second leaves. */
export function onInterrupt(): AbortSignal {
  const abort = new AbortController();
  process.on("SIGINT", () => {
    if (abort.signal.aborted) process.exit(1);
    abort.abort();
  });
  return abort.signal;
}

/** Asks a person at the terminal; anything but yes is no, also Ctrl-C and Ctrl-D. */
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
