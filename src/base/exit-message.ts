// Why an agent's process ended: the last lines of its stderr, or its exit code.
import type { ChildExit } from "./child.ts";

const TAIL_LINES = 20;
const MAX_CHARS = 2048;

export class StderrTail {
  readonly lines: string[] = [];

  add(line: string): void {
    this.lines.push(line);
    if (this.lines.length > TAIL_LINES) this.lines.shift();
  }
}

export function formatCrash(exit: ChildExit, tail: readonly string[]): string {
  return tail.length > 0 ? `stderr tail: ${formatTail(tail, " | ")}` : formatExit(exit);
}

/** Keeps the end, where the reason is. */
export function formatTail(tail: readonly string[], separator = "\n"): string {
  const text = tail.join(separator);
  return text.length <= MAX_CHARS ? text : `…${text.slice(-MAX_CHARS)}`;
}

export function formatExit(exit: ChildExit): string {
  if (exit.signal !== undefined) return `killed by ${exit.signal}`;
  return `exit ${exit.code ?? "unknown"}`;
}
