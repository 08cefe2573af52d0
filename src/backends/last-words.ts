// What to tell people when an agent's process is gone: the last lines of its stderr, or how it ended.
import type { ChildExit } from "../base/child.ts";

const TAIL_LINES = 20;
const MAX_CHARS = 2048;

export class StderrTail {
  readonly lines: string[] = [];

  add(line: string): void {
    this.lines.push(line);
    if (this.lines.length > TAIL_LINES) this.lines.shift();
  }
}

export function crashMessage(exit: ChildExit, tail: readonly string[]): string {
  if (tail.length > 0) return `stderr tail: ${tail.join(" | ")}`.slice(0, MAX_CHARS);
  return exitMessage(exit);
}

export function exitMessage(exit: ChildExit): string {
  if (exit.signal !== undefined) return `killed by ${exit.signal}`;
  return `exit ${exit.code ?? "unknown"}`;
}
