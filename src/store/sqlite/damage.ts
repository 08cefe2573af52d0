// Damage that a start does not find, because it does not read the whole database: it is noted where it is met, and the next
// start checks everything.
import { closeSync, existsSync, openSync, rmSync } from "node:fs";
import { type Database, isBroken } from "../../base/sqlite/database.ts";
import type { DriverOptions } from "../types.ts";

/** Nothing if the error has another cause, or the damage is noted already. */
export function noteDamage(
  path: string,
  error: unknown,
  { onRecovery }: Pick<DriverOptions, "onRecovery">,
): void {
  const note = toNote(path);
  if (!isBroken(error) || existsSync(note)) return;
  try {
    closeSync(openSync(note, "w", 0o600));
  } catch {
    return; // the error itself is reported to the caller; the next one is noted
  }
  const message = "part of the database is damaged; the next start of the daemon moves it aside";
  onRecovery({ kept_seq: 0, cut_bytes: 0, message });
}

/** Throws if damage was noted and is found. */
export function checkNoted(path: string, db: Database): void {
  if (!existsSync(toNote(path))) return;
  const [found] = db.prepare("PRAGMA quick_check(1)").all() as { quick_check: string }[];
  if (found?.quick_check !== "ok") throw new Error("database disk image is malformed");
}

export function forgetDamage(path: string): void {
  rmSync(toNote(path), { force: true });
}

function toNote(path: string): string {
  return `${path}.damaged`;
}
