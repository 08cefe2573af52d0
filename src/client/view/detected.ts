// The daemon's status once it has looked for every agent. Right after its start it reports `detecting` for some: whoever
// offers agents waits for them, and takes none for found or missing before.
import { isObject } from "../../base/json.ts";

const DETECTING = "detecting";
const POLL_MS = 250;
/** Ten seconds; after that, what was found by then has to do. */
const MAX_POLLS = 40;

/** Asks until no agent is being looked for. What was not found by then is left out of `backends`. */
export async function untilDetected<T extends { backends?: unknown }>(
  ask: () => Promise<T>,
  pollMs = POLL_MS,
): Promise<T> {
  for (let polls = 1; ; polls += 1) {
    const status = await ask();
    const all = Object.entries(isObject(status.backends) ? status.backends : {});
    const found = all.filter(([, version]) => version !== DETECTING);
    if (found.length === all.length || polls > MAX_POLLS) {
      return { ...status, backends: Object.fromEntries(found) };
    }
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}
