// What to tell people when claude is gone.
import type { ChildExit } from "../../base/child.ts";

const TAIL_LINES = 20;
const MAX_CHARS = 2048;
/** Spec §9.2. They count only in the last words of a claude that dies: "401" alone may stand in any log line. */
const AUTH_PATTERNS = [
  "OAuth token expired",
  "Please run claude auth",
  "Session authentication failed",
  "401",
];
const LAST_WORDS = 5;

/** The last lines of stderr. */
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

export function diedOfAuth(tail: readonly string[]): boolean {
  return tail.slice(-LAST_WORDS).some((line) => AUTH_PATTERNS.some((pattern) => line.includes(pattern)));
}
