// The journal's files: `blemees.journal-<n>` beside `blemees.db`. A number is used once.
import { basename, dirname, join } from "node:path";

export function journalPath(databasePath: string, n: number): string {
  return join(dirname(databasePath), `${stem(databasePath)}${n}`);
}

/** The numbers of the files found, oldest first. What was put aside is not among them. */
export function journalNumbers(databasePath: string, names: string[]): number[] {
  const start = stem(databasePath);
  return names
    .filter((name) => name.startsWith(start) && /^[1-9]\d{0,14}$/.test(name.slice(start.length)))
    .map((name) => Number(name.slice(start.length)))
    .sort((a, b) => a - b);
}

function stem(databasePath: string): string {
  return `${basename(databasePath, ".db")}.journal-`;
}
