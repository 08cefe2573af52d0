// The daemon's status after agent detection. Right after its start some agents are `detecting`, neither found nor
// missing.
import { isObject } from "../../base/json.ts";

const DETECTING = "detecting";
const POLL_MS = 250;
/** 10 seconds. */
const MAX_POLLS = 40;

/** Agents still being detected after the last poll are left out of `backends`. */
export async function pollUntilDetected<T extends { backends?: unknown }>(
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
