// Opens the seq marks: the file of this run, and those of earlier runs. What cannot be used is reported, and the daemon runs
// without it.
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { toMessage } from "../base/coded-error.ts";
import { nodeFileSystem } from "./disk/file-system.ts";
import { SeqMarks } from "./seq-marks.ts";
import { MarkTable } from "./sqlite/mark-table.ts";
import type { DriverOptions, Recovery } from "./types.ts";

/** The highest seqs given out before this start. */
export interface OldMarks {
  get(session_id: string): number;
  delete(session_id: string): void;
  close(): void;
}

export const NO_MARKS: OldMarks = { get: () => 0, delete: () => undefined, close: () => undefined };

/**
 * Moves the marks of the last run, and `more`, to those of earlier ones. Only while no other daemon can write them; this
 * daemon's main thread opens the file afterwards.
 */
export async function openOldMarks(
  path: string | undefined,
  more: { read(): ReadonlyMap<string, number>; taken(): void },
  options: DriverOptions,
): Promise<OldMarks> {
  const last = tryOpenMarks(path, options.onRecovery);
  if (path === undefined || last === undefined) return NO_MARKS;
  const marks = last.all();
  try {
    for (const [session_id, seq] of more.read())
      marks.set(session_id, Math.max(seq, marks.get(session_id) ?? 0));
    const table = await MarkTable.open(`${path}.db`, options);
    table.take(marks);
    last.clear();
    more.taken();
    return table;
  } catch (error) {
    const message = `${path}.db cannot be used, so seqs of sessions of earlier runs may be reused if the store is damaged: ${toMessage(error)}`;
    options.onRecovery({ kept_seq: 0, cut_bytes: 0, message });
    return {
      get: (session_id) => marks.get(session_id) ?? 0,
      delete: (session_id) => void marks.delete(session_id),
      close: () => undefined,
    };
  } finally {
    last.close();
  }
}

export function tryOpenMarks(
  path: string | undefined,
  onRecovery: (recovery: Recovery) => void = () => undefined,
): SeqMarks | undefined {
  if (path === undefined) return undefined;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    return new SeqMarks(nodeFileSystem, path);
  } catch (error) {
    const message = `${path} cannot be used, so seqs may be reused if the store is damaged: ${toMessage(error)}`;
    onRecovery({ kept_seq: 0, cut_bytes: 0, message });
    return undefined;
  }
}
