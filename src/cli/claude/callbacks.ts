// Where claude, which runs in the daemon, reaches the program: its hooks and its MCP servers, over HTTP on loopback. Every
// request becomes one of Claude Code's control requests to the program. The secret of the address is in a header, which
// other users of the machine cannot see.
import { randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { ControlAnswer } from "../../base/claude-wire/control.ts";
import { toMessage } from "../../base/coded-error.ts";
import { isObject, type JsonObject } from "../../base/json.ts";
import type { CallbackPlaces } from "./session-options.ts";

const MAX_BODY_BYTES = 32 * 1024 * 1024;

export interface Callbacks extends CallbackPlaces {
  close(): Promise<void>;
}

/** `ask` sends a control request to the program. */
export async function listenForCallbacks(
  ask: (request: JsonObject) => Promise<ControlAnswer>,
): Promise<Callbacks> {
  const secret = `Bearer ${randomBytes(32).toString("base64url")}`;
  const server = createServer({ requestTimeout: 0 }, (incoming, outgoing) => {
    serve(incoming, secret, ask).then(
      ({ status, body }) => reply(outgoing, status, body),
      (error: unknown) => reply(outgoing, 500, { error: toMessage(error) }),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  const at = (kind: string, name: string): string =>
    `http://127.0.0.1:${port}/${kind}/${encodeURIComponent(name)}`;
  return {
    hook: (callback_id) => at("hook", callback_id),
    server: (name) => at("mcp", name),
    headers: { Authorization: secret },
    close: () => close(server),
  };
}

interface Reply {
  status: number;
  body?: unknown;
}

async function serve(
  incoming: IncomingMessage,
  secret: string,
  ask: (request: JsonObject) => Promise<ControlAnswer>,
): Promise<Reply> {
  if (!isSame(incoming.headers.authorization ?? "", secret)) return { status: 401 };
  const [, kind, rest = ""] = (incoming.url ?? "").split("/", 3);
  const name = decodeURIComponent(rest);
  // A server that sends nothing on its own needs no stream, and keeps no session that could be deleted.
  if (incoming.method !== "POST") return { status: 405 };
  const message: unknown = JSON.parse(await readBody(incoming));
  if (!isObject(message)) return { status: 400 };
  if (kind === "hook") return callHook(name, message, ask);
  return kind === "mcp" ? sendMessage(name, message, ask) : { status: 404 };
}

async function callHook(
  callback_id: string,
  input: JsonObject,
  ask: (request: JsonObject) => Promise<ControlAnswer>,
): Promise<Reply> {
  const { tool_use_id } = input;
  const answer = await ask({
    subtype: "hook_callback",
    callback_id,
    input,
    ...(tool_use_id !== undefined && { tool_use_id }),
  });
  return answer.ok ? { status: 200, body: answer.response } : { status: 500, body: { error: answer.error } };
}

async function sendMessage(
  server_name: string,
  message: JsonObject,
  ask: (request: JsonObject) => Promise<ControlAnswer>,
): Promise<Reply> {
  const asked = ask({ subtype: "mcp_message", server_name, message });
  if (message["id"] === undefined) return { status: 202 };
  const answer = await asked;
  if (answer.ok) return { status: 200, body: answer.response["mcp_response"] };
  const error = { code: -32603, message: answer.error };
  return { status: 200, body: { jsonrpc: "2.0", id: message["id"], error } };
}

async function readBody(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw new Error(`the message exceeds ${MAX_BODY_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function reply(outgoing: ServerResponse, status: number, body?: unknown): void {
  outgoing.writeHead(status, { "content-type": "application/json" });
  outgoing.end(body === undefined ? undefined : JSON.stringify(body));
}

function isSame(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
