// The MCP handshake: initialize, initialized, and a check for the two tools. After it, turns can start. Errors are for
// users; the caller ends the process.

import { isObject, type JsonObject } from "../../../base/json.ts";
import type { JsonRpcPeer } from "../../../base/jsonrpc.ts";
import { asObject, asString } from "../../../base/values.ts";

const PROTOCOL_VERSION = "2024-11-05";
const CLIENT = { name: "blemeesd", version: "0" };
const TOOLS = ["codex", "codex-reply"];

export interface Server {
  /** Its version, if it names one. */
  version: string | undefined;
}

/** `limitMs` applies to each of the two requests. */
export async function shakeHands(peer: JsonRpcPeer, limitMs: number): Promise<Server> {
  const hello = { protocolVersion: PROTOCOL_VERSION, capabilities: {}, clientInfo: CLIENT };
  const answer = asObject(await peer.request("initialize", hello, { timeoutMs: limitMs }));
  peer.notify("notifications/initialized");
  const listed = asObject(await peer.request("tools/list", {}, { timeoutMs: limitMs }));
  const names = toolNames(listed);
  const missing = TOOLS.filter((name) => !names.includes(name));
  if (missing.length > 0) {
    const advice =
      "this transport needs Codex 0.153 or older; set codex_transport to app-server for newer ones";
    throw new Error(`it offers no tool ${missing.join(", ")}; ${advice}`);
  }
  return { version: asString(asObject(answer["serverInfo"])["version"]) };
}

function toolNames(listed: JsonObject): unknown[] {
  const tools: unknown[] = Array.isArray(listed["tools"]) ? listed["tools"] : [];
  return tools.map((tool) => (isObject(tool) ? tool["name"] : undefined));
}
