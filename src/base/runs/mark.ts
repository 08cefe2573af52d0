// How far a session has consumed the output files of its agent's run. Stored with the frames that came from it.

/** Everything was consumed, and the end of the process was reported. */
const END = Number.MAX_SAFE_INTEGER;

export function endMark(run_id: string): RunMark {
  return { run_id, out: END, err: END, n: END };
}

export function isEndMark({ out }: RunMark): boolean {
  return out === END;
}

export interface RunMark {
  run_id: string;
  /** Offsets in the files of stdout and stderr, always at the end of a line. */
  out: number;
  err: number;
  /** The last entry of the record whose reports are stored. */
  n: number;
}
