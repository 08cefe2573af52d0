// The notifications that ACP does not know. A client that did not announce them answers "Method not found" or shows an
// error, so they go only to clients whose capabilities name them: `_meta: { demian: { events: true, notices: true } }`.
import type { ClientCapabilities } from "@agentclientprotocol/sdk";
import { isObject } from "../../base/json.ts";

export const EVENT = "_demian/event";
export const NOTICE = "_demian/notice";

const FLAGS: Readonly<Record<string, string>> = { [EVENT]: "events", [NOTICE]: "notices" };

export function isAnnounced({ _meta: meta }: ClientCapabilities, method: string): boolean {
  const ours = isObject(meta) ? meta["demian"] : undefined;
  return isObject(ours) && ours[FLAGS[method] ?? ""] === true;
}
