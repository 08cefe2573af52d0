// An agent that has waited for its child need not be woken for it: the wake that is in its own queue is cancelled.
import { setTimeout as sleep } from "node:timers/promises";
import { CodedError } from "../../base/coded-error.ts";
import type { HttpClient, SessionView } from "../../client/index.ts";

/** A wake is put into the queue just after what it tells of; looked for so often, so far apart. */
const TRIES = 6;
const PAUSE_MS = 50;

/** Gives the ids of what was cancelled. Nothing to cancel is no error. */
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
    // It was delivered meanwhile.
    if (!(error instanceof CodedError) || error.code !== "message_unknown") throw error;
  }
}
