// Lets only one demian at a time use a Claude Code session: two would silently diverge, and the last writer would win
// (2.1.197).
import { join } from "node:path";
import { ensurePrivateDir } from "../../../base/private-file.ts";
import { takeLock } from "../../process-lock.ts";

const BEAT_MS = 30_000;
/** A process that is stopped or hangs for this long has lost its turn. */
const STALE_MS = 300_000;

/** `directory` is the workspace's. Returns a function that unlocks. Throws `session_locked`, naming the owner. */
export async function lockSession(directory: string, claudeSessionId: string): Promise<() => void> {
  const locks = join(directory, "claude-code-locks");
  await ensurePrivateDir(locks);
  return takeLock(join(locks, claudeSessionId), `Claude Code session ${claudeSessionId}`, {
    beatMs: BEAT_MS,
    staleMs: STALE_MS,
    advice: "wait for its turn to end, or set sessionLock: false for this provider",
  });
}
