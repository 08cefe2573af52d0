// The MCP handshake: initialize, initialized, and a look whether the two tools are there. Whoever passes it can take
// turns. It says what is wrong in words for people; who started the process ends it.
import { isObject, type JsonObject } from "../../../base/json.ts";
import type { JsonRpcPeer } from "../../../base/jsonrpc.ts";
import { objectOf, stringOf } from "../../values.ts";

const PROTOCOL_VERSION = "2024-11-05";
const CLIENT = { name: "blemeesd", version: "0" };
const TOOLS = ["codex", "codex-reply"];

export interface Server {
  /** What it calls its version, if it does. */
  version: string | undefined;
}

/** `limitMs` is for each of the two questions. */
export async function shakeHands(peer: JsonRpcPeer, limitMs: number): Promise<Server> {
  const hello = { protocolVersion: PROTOCOL_VERSION, capabilities: {}, clientInfo: CLIENT };
  const answer = objectOf(await peer.request("initialize", hello, { timeoutMs: limitMs }));
  peer.notify("notifications/initialized");
  const listed = objectOf(await peer.request("tools/list", {}, { timeoutMs: limitMs }));
  const names = toolNames(listed);
  const missing = TOOLS.filter((name) => !names.includes(name));
  if (missing.length > 0) {
    const advice =
      "this transport needs Codex 0.153 or older; set codex_transport to app-server for newer ones";
    throw new Error(`it offers no tool ${missing.join(", ")}; ${advice}`);
  }
  return { version: stringOf(objectOf(answer["serverInfo"])["version"]) };
}

function toolNames(listed: JsonObject): unknown[] {
  const tools: unknown[] = Array.isArray(listed["tools"]) ? listed["tools"] : [];
  return tools.map((tool) => (isObject(tool) ? tool["name"] : undefined));
}
