// The daemon's tools for claude, as an MCP server on its control channel: `mcp_message` requests. Only what such a server
// needs; everything but a call is answered at once, and the same way when a run is adopted.
import type { ControlChannel, ControlRequest } from "../../base/claude-wire/control.ts";
import type { JsonObject } from "../../base/json.ts";
import { asObject, asString } from "../../base/values.ts";
import type { ToolCall, ToolOutcome, ToolSpec } from "../types.ts";

export const SERVER_NAME = "blemees";

export interface ToolServerParts {
  control: ControlChannel;
  tools: readonly ToolSpec[];
  called(call: ToolCall): void;
  withdrawn(native_id: string, reason: string): void;
}

/** Claude offers the newest protocol that it knows, and any with tools will do. */
const OLDEST_PROTOCOL = "2024-11-05";
const METHOD_NOT_FOUND = -32601;

export class ToolServer {
  readonly #parts: ToolServerParts;
  /** JSON-RPC ids of the calls without a result, by the id of their control request. */
  readonly #calls = new Map<string, unknown>();

  constructor(parts: ToolServerParts) {
    this.#parts = parts;
  }

  /** False: the request is for somebody else. */
  take({ request_id, subtype, body, signal }: ControlRequest): boolean {
    if (subtype !== "mcp_message" || body["server_name"] !== SERVER_NAME) return false;
    const { id, method, params } = asObject(body["message"]);
    if (method === "notifications/cancelled") this.#cancel(asObject(params)["requestId"]);
    if (method !== "tools/call") {
      this.#answer(request_id, { id, ...this.#reply(asString(method) ?? "", asObject(params)) });
      return true;
    }
    this.#calls.set(request_id, id);
    signal.addEventListener("abort", () => this.#withdraw(request_id));
    const { name, arguments: input = {} } = asObject(params);
    this.#parts.called({ native_id: request_id, name: asString(name) ?? "", input });
    return true;
  }

  /** Returns false, and sends nothing, if the call is no longer waiting. */
  async give(native_id: string, { text, isError }: ToolOutcome): Promise<boolean> {
    if (!this.#calls.has(native_id)) return false;
    const id = this.#calls.get(native_id);
    this.#calls.delete(native_id);
    const result = { content: [{ type: "text", text }], isError: isError === true };
    return this.#answer(native_id, { id, result });
  }

  /** The turn was interrupted: claude no longer waits, although it may not say so. */
  withdrawAll(): void {
    for (const native_id of [...this.#calls.keys()]) this.#giveUp(native_id);
  }

  /** The control request must end too, although claude ignores how. */
  #giveUp(native_id: string): void {
    const id = this.#calls.get(native_id);
    this.#withdraw(native_id);
    this.#answer(native_id, { id, error: { code: 0, message: "the call was cancelled" } });
  }

  #cancel(requestId: unknown): void {
    const found = [...this.#calls].find(([, id]) => id === requestId);
    if (found !== undefined) this.#giveUp(found[0]);
  }

  #withdraw(native_id: string): void {
    if (this.#calls.delete(native_id)) this.#parts.withdrawn(native_id, "claude cancelled the call");
  }

  #reply(method: string, params: JsonObject): JsonObject {
    // Claude expects a reply to a notification too.
    if (method.startsWith("notifications/") || method === "ping") return { result: {} };
    if (method === "tools/list") return { result: { tools: this.#parts.tools } };
    if (method !== "initialize") return { error: { code: METHOD_NOT_FOUND, message: `no method ${method}` } };
    const protocolVersion = asString(params["protocolVersion"]) ?? OLDEST_PROTOCOL;
    const serverInfo = { name: SERVER_NAME, version: "1" };
    return { result: { protocolVersion, capabilities: { tools: {} }, serverInfo } };
  }

  async #answer(request_id: string, message: JsonObject): Promise<boolean> {
    const { id = 0, ...rest } = message;
    const response = { mcp_response: { jsonrpc: "2.0", id, ...rest } };
    return this.#parts.control.answer(request_id, { ok: true, response });
  }
}
