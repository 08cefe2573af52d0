// After an agent has waited for its child, the child's wake in the agent's own queue is cancelled.
import { setTimeout as sleep } from "node:timers/promises";
import { CodedError } from "../../base/coded-error.ts";
import type { HttpClient, SessionView } from "../../client/index.ts";

/** A wake is queued just after the event it reports, so it is looked for several times. */
const TRIES = 6;
const PAUSE_MS = 50;

/** Returns the ids of the cancelled wakes, if any. */
export async function cancelWakes(
  http: HttpClient,
  self: string | undefined,
  child: SessionView,
): Promise<string[]> {
  if (self === undefined || child.parent !== self) return [];
  for (let count = 1; count <= TRIES; count += 1) {
    const { queued } = await http.queue(self);
    const wakes = queued.filter(({ kind, from }) => kind === "wake" && from === child.session_id);
    if (wakes.length > 0) {
      for (const { message_id } of wakes) await cancel(http, self, message_id);
      return wakes.map(({ message_id }) => message_id);
    }
    if (count < TRIES) await sleep(PAUSE_MS);
  }
  return [];
}

async function cancel(http: HttpClient, self: string, message_id: string): Promise<void> {
  try {
    await http.cancelInput(self, message_id);
  } catch (error) {
    // It was delivered in the meantime.
    if (!(error instanceof CodedError) || error.code !== "message_unknown") throw error;
  }
}
