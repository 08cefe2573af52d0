// Our ACP extension notifications. Unprepared clients answer "Method not found" or show an error, so they are sent only to
// clients with the capability: `_meta: { demian: { events: true, notices: true } }`.
import type { ClientCapabilities } from "@agentclientprotocol/sdk";
import { asObject } from "../../base/values.ts";

export const EVENT = "_demian/event";
export const NOTICE = "_demian/notice";
/**
 * A request of the client: `{ sessionId, messageId, prompt }`, for the running prompt. Answered with `{ outcome }`: `taken`
 * once it is part of a model request, or `returned`.
 */
export const STEER = "_demian/steer";

const FLAGS: Readonly<Record<string, string>> = { [EVENT]: "events", [NOTICE]: "notices" };

export function supportsNotification({ _meta: meta }: ClientCapabilities, method: string): boolean {
  return asObject(asObject(meta)["demian"])[FLAGS[method] ?? ""] === true;
}
