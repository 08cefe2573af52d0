// Detects changes worth a notification: a request is pending, or the turn ended. Pure.
import type { Notification } from "../types.ts";
import { getWaiting, isTurnRunning } from "./state.ts";
import type { SessionUi } from "./ui-types.ts";

export const NOTIFICATION_TEXTS: Readonly<Record<Notification["kind"], string>> = {
  waits: "is waiting for you",
  done: "is done",
  failed: "failed",
};

/** None while history is loaded or after a reconnect. */
export function detectNotification(before: SessionUi, after: SessionUi): Notification["kind"] | undefined {
  if (before.view.link.state !== "live" || after.view.link.state !== "live") return undefined;
  const known = new Set(before.view.requests.map(({ request_id }) => request_id));
  if (getWaiting(after).some(({ request_id }) => !known.has(request_id))) return "waits";
  const last = after.view.entries.at(-1);
  const isNew = isTurnRunning(before) && last !== undefined && last.id !== before.view.entries.at(-1)?.id;
  if (!isNew || last.kind !== "result" || after.view.queue.length > 0) return undefined;
  if (last.subtype === "interrupted") return undefined;
  return last.subtype === "success" ? "done" : "failed";
}
