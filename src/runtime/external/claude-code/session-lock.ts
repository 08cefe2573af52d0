// One demian at a time goes on with the same session of Claude Code: two that do diverge silently (2.1.197), and the one
// that writes last wins.
import { join } from "node:path";
import { takeLock } from "../../process-lock.ts";
import { ensurePrivateDir } from "../../state-dir.ts";

const BEAT_MS = 30_000;
/** A process that is stopped or hangs for that long has no turn any more. */
const STALE_MS = 300_000;

/** `directory`: the workspace's. Throws `session_locked` with who has it. Gives back how to free it. */
export async function lockSession(directory: string, claudeSessionId: string): Promise<() => void> {
  const locks = join(directory, "claude-code-locks");
  await ensurePrivateDir(locks);
  return takeLock(join(locks, claudeSessionId), `the session ${claudeSessionId} of Claude Code`, {
    beatMs: BEAT_MS,
    staleMs: STALE_MS,
    advice: "wait until its turn has ended, or set sessionLock: false for this provider",
  });
}
