// Processes that one session's commands left running. A shared process has no process of the session to look below, but
// every command has the session's marker in its environment.
import { RUN_MARKER } from "../base/child.ts";
import { findByEnvironment, findStartedSince, killAll } from "../base/descendants.ts";

const GRACE_MS = 300;

/** `sinceS`: seconds since boot; what earlier turns started stays. */
export async function killLeftovers(marker: string, sinceS?: number): Promise<void> {
  const found = await findByEnvironment(RUN_MARKER, (value) => value === marker).catch(() => []);
  const chosen = sinceS === undefined ? found : found.filter((id) => findStartedSince(id, sinceS));
  if (chosen.length > 0) await killAll(chosen, GRACE_MS);
}
