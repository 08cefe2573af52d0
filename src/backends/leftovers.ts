// Processes that the commands of one session left running. In a process that sessions share there is no process of
// the session to look below, but every command carries the session's marker in its environment.
import { RUN_MARKER } from "../base/child.ts";
import { findByEnvironment, killAll, startedSince } from "../base/descendants.ts";

const GRACE_MS = 300;

/** `sinceS`: a moment of `os.uptime()`; what an earlier turn started stays. */
export async function killLeftovers(marker: string, sinceS?: number): Promise<void> {
  const found = await findByEnvironment(RUN_MARKER, (value) => value === marker).catch(() => []);
  const chosen = sinceS === undefined ? found : found.filter((id) => startedSince(id, sinceS));
  if (chosen.length > 0) await killAll(chosen, GRACE_MS);
}
