// Messages for the running turn. Claude takes one in when the next tool ends; otherwise it begins a turn with it right
// after the running one. Since 2.1.325 it reports what becomes of each message, by the id that we gave it.
import type { ControlChannel } from "../../base/claude-wire/control.ts";
import type { JsonObject } from "../../base/json.ts";
import { asString } from "../../base/values.ts";
import { toMessageId } from "./message-ids.ts";
import { type ClaudeReport, type ClaudeState, isTurnActive } from "./state.ts";

/** Claude's id for a message; undefined if its own id is not random. */
export function toSteerId(message_id: string): string | undefined {
  return toMessageId(message_id.replace(/^msg_/, ""));
}

export function noteSteer(state: ClaudeState, uuid: string, message_id: string): void {
  state.steers ??= new Map();
  state.steers.set(uuid, message_id);
}

export function noteLifecycle(state: ClaudeState, frame: JsonObject): ClaudeReport[] {
  state.hasLifecycle = true;
  const uuid = asString(frame["command_uuid"]) ?? "";
  const message_id = state.steers?.get(uuid);
  const isSettled = frame["state"] === "started" || frame["state"] === "cancelled";
  if (message_id === undefined || !isSettled) return [];
  state.steers?.delete(uuid);
  if (frame["state"] === "cancelled") return [{ kind: "steered", message_id, how: "returned" }];
  return [{ kind: "steered", message_id, how: isTurnActive(state) ? "taken" : "next" }];
}

/** Asks for them back. Claude has cancelled them when it answers, or has begun them. */
export function cancelSteers(control: ControlChannel, uuids: Iterable<string>): void {
  for (const message_uuid of uuids) void control.request({ subtype: "cancel_async_message", message_uuid });
}
