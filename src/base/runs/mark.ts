// How far a session has consumed the output files of its agent's run. Stored with the frames that came from it.

export interface RunMark {
  run_id: string;
  /** Offsets in the files of stdout and stderr, always at the end of a line. */
  out: number;
  err: number;
  /** The last entry of the record whose reports are stored. */
  n: number;
}
