// Which agents of an earlier daemon can be continued: their processes are running, or their output was not read to its
// end, and the stored sessions match them. Decided first, because all other sessions are recovered as after a crash.
import { statSync } from "node:fs";
import { toMessage } from "../base/coded-error.ts";
import type { Log } from "../base/log.ts";
import { type FoundRun, findRuns, HAS_ENDED, type LeftRun } from "../base/runs/adopt.ts";
import { isEndMark } from "../base/runs/mark.ts";
import type { Snapshot } from "../base/runs/snapshots.ts";
import type { SessionRow } from "../protocol/session.ts";
import type { SessionRunMark, Store } from "../store/types.ts";

export interface KeptRuns {
  found: FoundRun[];
  left: LeftRun[];
  marks: SessionRunMark[];
  /** Their sessions. */
  sessions: ReadonlySet<string>;
}

export const NO_RUNS: KeptRuns = { found: [], left: [], marks: [], sessions: new Set() };

export async function findKeptRuns(root: string, store: Store, log: Log): Promise<KeptRuns> {
  // First: once the store is open, no earlier daemon still works with these runs.
  await store.runMarks([]);
  const { found, left } = await findRuns(root, (error) =>
    log.warn("run.not_adopted", { root, reason: `which agents run cannot be seen: ${toMessage(error)}` }),
  );
  const ids = found.flatMap(({ snapshots }) => snapshots.map(({ session_id }) => session_id));
  const marks = await store.runMarks(ids);
  const sessions = new Set<string>();
  const kept: FoundRun[] = [];
  /** The earlier daemon stored their ends, and was killed before it could remove them. */
  const reported: LeftRun[] = [];
  // Newest first: an older process of the same session is one that could not be stopped.
  for (const run of found.toSorted((a, b) => b.description.started_at_ms - a.description.started_at_ms)) {
    try {
      const known = await checkSessions(run, marks, store);
      const twice = known.find((session_id) => sessions.has(session_id));
      if (twice !== undefined) throw new Error(`a newer process serves session ${twice}`);
      if (run.hasEnded) {
        const ends = known.map((session_id) => findMark(marks, run, session_id));
        if (ends.every((mark) => mark !== undefined && isEndMark(mark))) {
          reported.push({ directory: run.directory, reason: HAS_ENDED });
          continue;
        }
        if (!isUnread(run, known, marks)) throw new Error(HAS_ENDED);
      }
      kept.push(run);
      for (const session_id of known) sessions.add(session_id);
    } catch (error) {
      left.push({ directory: run.directory, reason: toMessage(error) });
    }
  }
  for (const { directory, reason } of left) log.warn("run.not_adopted", { run_id: directory.id, reason });
  return { found: kept, left: [...left, ...reported], marks, sessions };
}

/** Whether something that the process has written may not be stored. */
function isUnread(run: FoundRun, session_ids: readonly string[], marks: readonly SessionRunMark[]): boolean {
  const { output, errors } = run.directory;
  return run.snapshots.some((snapshot) => {
    if (!session_ids.includes(snapshot.session_id)) return false;
    const mark = findMark(marks, run, snapshot.session_id);
    if (mark !== undefined && isEndMark(mark)) return false;
    const out = mark?.out ?? snapshot.out;
    return statSync(output).size > out || statSync(errors).size > Math.max(mark?.err ?? 0, snapshot.err);
  });
}

export function findMark(
  marks: readonly SessionRunMark[],
  { directory }: FoundRun,
  session_id: string,
): SessionRunMark | undefined {
  return marks.find((mark) => mark.session_id === session_id && mark.run_id === directory.id);
}

/** The sessions of this process that the store knows. Throws, with the reason, if it cannot be continued. */
async function checkSessions(
  run: FoundRun,
  marks: readonly SessionRunMark[],
  store: Store,
): Promise<string[]> {
  const rows = await Promise.all(run.snapshots.map(({ session_id }) => store.loadRow(session_id)));
  const known = run.snapshots.flatMap((snapshot, index) => {
    const row = rows[index];
    return row?.backend === run.description.backend ? [{ row, snapshot }] : [];
  });
  if (known.length === 0) throw new Error("none of its sessions is in the store");
  for (const { row, snapshot } of known) {
    checkRow(row, snapshot, findMark(marks, run, row.session_id));
  }
  return known.map(({ row }) => row.session_id);
}

/** If frames or the mark are missing, output would be shown twice or not at all. */
function checkRow(row: SessionRow, { last_seq }: Snapshot, mark: SessionRunMark | undefined): void {
  const { session_id } = row;
  if (row.lost_after !== undefined) throw new Error(`the store has lost frames of session ${session_id}`);
  if (row.last_seq < last_seq) {
    throw new Error(`the store does not have the first frames of session ${session_id}`);
  }
  if (mark === undefined && row.last_seq > last_seq) {
    throw new Error(`the store has no mark for session ${session_id}`);
  }
}
