// Snapshots of the sessions that an agent process serves: the state of their translators at a place in its output, from
// which a later daemon can continue. One file per session, replaced as a whole.
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deserialize, serialize } from "node:v8";

export interface Snapshot {
  session_id: string;
  /** Identifies this process in the request ledger. */
  generation: string;
  /** The session's last frame at that time. */
  last_seq: number;
  /** The state includes the output up to here … */
  out: number;
  /** … and everything on stderr up to here was reported. */
  err: number;
  /** It includes the calls in the record up to this number. */
  n: number;
  /** The agent has introduced itself. */
  has_init: boolean;
  /** Whatever the backend needs. */
  state: unknown;
}

/** Session ids have this form everywhere; none can leave the directory. */
const SAFE = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/;
/** Temporary file; not a valid session id. */
const NEW = ".new";

export function writeSnapshot(directory: string, snapshot: Snapshot): void {
  const path = snapshotPath(directory, snapshot.session_id);
  const draft = join(directory, NEW);
  writeFileSync(draft, serialize(snapshot), { mode: 0o600 });
  renameSync(draft, path);
}

export function removeSnapshot(directory: string, session_id: string): void {
  rmSync(snapshotPath(directory, session_id), { force: true });
}

/** Throws if one cannot be read. */
export function readSnapshots(directory: string): Snapshot[] {
  return readdirSync(directory)
    .filter((name) => SAFE.test(name))
    .map((name) => {
      const snapshot = deserialize(readFileSync(join(directory, name))) as Snapshot;
      if (snapshot.session_id !== name) throw new Error(`the snapshot ${name} is of another session`);
      return snapshot;
    });
}

function snapshotPath(directory: string, session_id: string): string {
  if (!SAFE.test(session_id)) throw new Error(`not a session id: ${session_id}`);
  return join(directory, session_id);
}
