// Checkpoints of demian's own sessions, without the daemon: the files of the repository at the start and end of each turn, for
// /undo. They are in the project's state directory, where no agent can write, for a week.
import { join } from "node:path";
import { silentLog } from "../../../base/log.ts";
import { keepFoundGit } from "../../../git/index.ts";
import type { UndoReply } from "../../../protocol/changes.ts";
import type { Env } from "../../../runtime/state-dir.ts";
import { getProjectDir, getStateDir } from "../../../runtime/state-dir.ts";
import { type CheckpointParts, Checkpoints } from "../../../sessions/index.ts";

const TIMEOUT_MS = 2000;
const MAX_FILE_BYTES = 10 * 1024 * 1024;
const MAX_AGE_MS = 7 * 24 * 60 * 60 * 1000;

export type CheckpointPlace = Omit<CheckpointParts, "log" | "report" | "changed" | "findGit">;

export function buildCheckpointPlace(cwd: string, env: Env): CheckpointPlace {
  return {
    root: join(getProjectDir(env, cwd), "checkpoints"),
    // Transcripts and outputs are no changes of a turn.
    hidden: [getStateDir(env), join(cwd, ".demian", "transcripts"), join(cwd, ".demian", "tmp")],
    timeoutMs: TIMEOUT_MS,
    maxFileBytes: MAX_FILE_BYTES,
    env,
  };
}

/** Removes those of old sessions. */
export async function pruneCheckpoints(checkpoints: Checkpoints | undefined): Promise<void> {
  await checkpoints?.prune((ids) => Promise.resolve(new Set(ids)), MAX_AGE_MS);
}

/** For the plain chat, which has no session core. */
export class TurnCheckpoints {
  readonly #checkpoints: Checkpoints;
  readonly #place: { session_id: string; cwd: string };
  #turns = 0;

  constructor(session_id: string, { cwd, env, warn }: { cwd: string; env: Env; warn(text: string): void }) {
    this.#place = { session_id, cwd };
    this.#checkpoints = new Checkpoints({
      ...buildCheckpointPlace(cwd, env),
      findGit: keepFoundGit(env),
      log: silentLog,
      report: (_id, { reason }) => warn(`the files of this turn cannot be undone: ${reason}`),
    });
  }

  async record<T>(turn: () => Promise<T>): Promise<T> {
    this.#turns += 1;
    const turn_id = String(this.#turns);
    await this.#checkpoints.onTurnStart(this.#place, turn_id);
    try {
      return await turn();
    } finally {
      this.#checkpoints.onTurnEnd(this.#place, turn_id);
    }
  }

  /** Throws `change_unknown`, `git_failed`, `undo_failed`. */
  undo(order: { force?: boolean }): Promise<UndoReply> {
    const agent = { canRewind: false, name: "demian", rewind: () => Promise.reject(new Error("unused")) };
    return this.#checkpoints.undo(this.#place, { ...order, files_only: true }, agent);
  }

  async close(): Promise<void> {
    await this.#checkpoints.close();
    await pruneCheckpoints(this.#checkpoints);
  }
}
