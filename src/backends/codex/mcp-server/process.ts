// One `codex mcp-server` process, which serves one session: the MCP handshake, and messages to its run. Its lifetime is
// shared-process.ts.

import type { ChildOrder } from "../../../base/child.ts";
import type { JsonObject } from "../../../base/json.ts";
import type { RpcId } from "../../../base/jsonrpc.ts";
import type { Log } from "../../../base/log.ts";
import { asObject, asObjects, asString } from "../../../base/values.ts";
import { toNotice } from "../../../protocol/notices.ts";
import { type Resident, SharedProcess } from "../../shared-process.ts";

export interface McpResident extends Resident {
  notify(method: string, params: JsonObject): void;
  request(id: RpcId, method: string, params: JsonObject): void;
}

export interface McpOrder extends ChildOrder {
  maxLineBytes: number;
  log: Log;
  /** Timeout of each of its two requests. */
  handshakeMs: number;
}

export type McpProcess = SharedProcess<McpResident, undefined>;

const NAME = "codex";
const FINISH_MS = 5000;
const TOOLS = ["codex", "codex-reply"];
const HEADER = "Content-Length:";
const FRAMING = "codex frames its messages with Content-Length headers; blemeesd reads one message per line";

/** Resolves when codex accepts messages; throws `spawn_failed` with its output. */
export async function startMcpServer(order: McpOrder): Promise<McpProcess> {
  const { maxLineBytes, log, handshakeMs, ...child } = order;
  let isForeign = false;
  const tell = (what: (run: McpResident) => void) => server.residents.forEach(what);
  const server: McpProcess = new SharedProcess({
    name: NAME,
    title: "codex mcp-server",
    router: undefined,
    withVersion: true,
    maxLineBytes,
    finishMs: FINISH_MS,
    log,
    notification: (method, params) => tell((run) => run.notify(method, params)),
    request: (id, method, params) => tell((run) => run.request(id, method, params)),
    // Nothing that follows can be read.
    notJson: (text) => {
      if (isForeign || !text.startsWith(HEADER)) return isForeign;
      isForeign = true;
      const notice = toNotice(NAME, "codex_unsupported_framing", { level: "warn", text: FRAMING });
      tell((run) => run.notice(notice));
      void server.kill(FRAMING);
      return true;
    },
    strayLine: (line) => tell((run) => run.stderr(line)),
    condemned: (why, pid) => log.warn("codex.process_killed", { why, pid }),
  });
  await server.start(child, () => shakeHands(server, handshakeMs));
  return server;
}

/** "0" for a server that has the tools but names no version. */
export function readVersion({ intro }: McpProcess): string {
  return asString(asObject(intro["serverInfo"])["version"]) ?? "0";
}

/** initialize, initialized, and a check for the two tools. `limitMs` applies to each of the two requests. */
export async function shakeHands(
  server: Pick<McpProcess, "request" | "notify">,
  limitMs: number,
): Promise<JsonObject> {
  const clientInfo = { name: "blemeesd", version: "0" };
  const hello = { protocolVersion: "2024-11-05", capabilities: {}, clientInfo };
  const intro = asObject(await server.request("initialize", hello, limitMs));
  server.notify("notifications/initialized");
  const listed = asObject(await server.request("tools/list", {}, limitMs));
  const names = asObjects(listed["tools"]).map(({ name }) => name);
  const missing = TOOLS.filter((name) => !names.includes(name));
  if (missing.length === 0) return intro;
  const advice =
    "this transport needs Codex 0.153 or older; set codex_transport to app-server for newer ones";
  throw new Error(`it offers no tool ${missing.join(", ")}; ${advice}`);
}
