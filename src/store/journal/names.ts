// Names of journal files: `blemees.journal-<n>` beside `blemees.db`. A number is used once.
import { basename, dirname, join } from "node:path";

export function toJournalPath(databasePath: string, n: number): string {
  return join(dirname(databasePath), `${getStem(databasePath)}${n}`);
}

/** The numbers of the files found, oldest first. Files that were put aside do not count. */
export function listJournalNumbers(databasePath: string, names: string[]): number[] {
  const start = getStem(databasePath);
  return names
    .filter((name) => name.startsWith(start) && /^[1-9]\d{0,14}$/.test(name.slice(start.length)))
    .map((name) => Number(name.slice(start.length)))
    .sort((a, b) => a - b);
}

function getStem(databasePath: string): string {
  return `${basename(databasePath, ".db")}.journal-`;
}
