// What of a change is worth telling somebody who looks elsewhere: something waits, or the turn ended. Pure.
import type { News } from "../types.ts";
import { isTurnRunning, waiting } from "./state.ts";
import type { SessionUi } from "./ui-types.ts";

export const NEWS: Readonly<Record<News["kind"], string>> = {
  waits: "waits for you",
  done: "is done",
  failed: "failed",
};

/** Nothing is new while history is read, nor behind a connection that was lost. */
export function newsOf(before: SessionUi, after: SessionUi): News["kind"] | undefined {
  if (before.view.link.state !== "live" || after.view.link.state !== "live") return undefined;
  const known = new Set(before.view.requests.map(({ request_id }) => request_id));
  if (waiting(after).some(({ request_id }) => !known.has(request_id))) return "waits";
  const last = after.view.entries.at(-1);
  const isNew = isTurnRunning(before) && last !== undefined && last.id !== before.view.entries.at(-1)?.id;
  if (!isNew || last.kind !== "result" || after.view.queue.length > 0) return undefined;
  if (last.subtype === "interrupted") return undefined;
  return last.subtype === "success" ? "done" : "failed";
}
