// The daemon's tools as an MCP server on claude's control channel.
import { expect, test } from "vitest";
import { SERVER_NAME, ToolServer } from "../../../src/backends/claude/tool-server.ts";
import type { ToolCall } from "../../../src/backends/types.ts";
import { ControlChannel } from "../../../src/base/claude-wire/control.ts";
import type { JsonObject } from "../../../src/base/json.ts";

const TOOLS = [{ name: "agents_look", description: "looks", inputSchema: { type: "object" } }];

function connect() {
  const sent: JsonObject[] = [];
  const called: ToolCall[] = [];
  const withdrawn: string[] = [];
  const taken: boolean[] = [];
  const control = new ControlChannel({
    name: "t",
    write: async (line) => void sent.push(JSON.parse(line).response),
    request: (request) => void taken.push(server.take(request)),
  });
  const server = new ToolServer({
    control,
    tools: TOOLS,
    called: (call) => void called.push(call),
    withdrawn: (native_id) => void withdrawn.push(native_id),
  });
  const send = (request_id: string, message: JsonObject, server_name: string = SERVER_NAME) =>
    control.take({
      type: "control_request",
      request_id,
      request: { subtype: "mcp_message", server_name, message },
    });
  const replies = () => sent.map(({ response }) => (response as JsonObject)["mcp_response"]);
  return { control, server, send, sent, replies, called, withdrawn, taken };
}

test("the handshake and the list are answered at once, in the protocol that claude offers", () => {
  const { send, replies } = connect();
  send("a", { id: 0, method: "initialize", params: { protocolVersion: "2025-11-25" } });
  send("b", { method: "notifications/initialized" });
  send("c", { id: 1, method: "tools/list" });
  send("d", { id: 2, method: "resources/list" });
  expect(replies()).toMatchObject([
    { jsonrpc: "2.0", id: 0, result: { protocolVersion: "2025-11-25", capabilities: { tools: {} } } },
    { id: 0, result: {} },
    { id: 1, result: { tools: TOOLS } },
    { id: 2, error: { code: -32601 } },
  ]);
});

test("a call waits for its result, which is given once", async () => {
  const { send, server, called, replies, control } = connect();
  send("call-1", { id: 7, method: "tools/call", params: { name: "agents_look", arguments: { id: "x" } } });
  expect(called).toEqual([{ native_id: "call-1", name: "agents_look", input: { id: "x" } }]);
  expect(control.isQuiet).toBe(false);
  expect(await server.give("call-1", { text: "no", isError: true })).toBe(true);
  expect(replies()).toEqual([
    { jsonrpc: "2.0", id: 7, result: { content: [{ type: "text", text: "no" }], isError: true } },
  ]);
  expect(await server.give("call-1", { text: "again" })).toBe(false);
  expect(control.isQuiet).toBe(true);
});

test("a call that claude cancels, in any of its ways, gets no result", async () => {
  const { send, server, withdrawn, control } = connect();
  for (const id of [1, 2, 3]) send(`call-${id}`, { id, method: "tools/call", params: { name: "x" } });
  send("n", { method: "notifications/cancelled", params: { requestId: 1 } });
  control.take({ type: "control_cancel_request", request_id: "call-2" });
  server.withdrawAll();
  expect(withdrawn).toEqual(["call-1", "call-2", "call-3"]);
  expect(control.isQuiet).toBe(true);
  for (const id of [1, 2, 3]) expect(await server.give(`call-${id}`, { text: "late" })).toBe(false);
});

test("requests for other servers are not its business", () => {
  const { send, taken, sent } = connect();
  send("a", { id: 0, method: "tools/list" }, "other");
  expect({ taken, sent }).toEqual({ taken: [false], sent: [] });
});
