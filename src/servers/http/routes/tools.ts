// Tools for managing agents, for other programs: as plain requests, and by the Model Context Protocol.
import type { IncomingMessage } from "node:http";
import * as z from "zod";
import { defined } from "../../../base/values.ts";
import { McpMessage, ToolReply, ToolsReply } from "../../../protocol/wire/http-tools.ts";
import { callTool, listTools } from "../../../sessions/index.ts";
import { type Call, defineJsonReply, type Reply, type Route, route, type Services } from "../route.ts";

export const TOOL_ROUTES: readonly Route[] = [
  route({
    method: "get",
    path: "/tools",
    name: "list_tools",
    summary: "The tools with which agents and programs manage agents, as in MCP.",
    replies: { 200: defineJsonReply("The tools.", "ToolsReply", ToolsReply) },
    handle: () => ({ body: { tools: listTools() } }),
  }),
  route({
    method: "post",
    path: "/tools/{tool}",
    name: "call_tool",
    summary: "Calls a tool with the caller's rights. A call that fails is a reply too, with `isError`.",
    body: { name: "ToolInput", schema: z.record(z.string(), z.unknown()) },
    asker: "whose children it manages",
    keyed: true,
    replies: { 200: defineJsonReply("What the tool returned, as text.", "ToolReply", ToolReply) },
    handle: async (call, services) => ({
      body: await runTool(call, services, call.param("tool"), call.body, call.signal),
    }),
  }),
  route({
    method: "post",
    path: "/mcp",
    name: "mcp",
    summary:
      "The same tools by the Model Context Protocol (streamable HTTP, without sessions): 2026-07-28 and older revisions.",
    body: { name: "McpMessage", schema: McpMessage },
    asker: "whose children it manages",
    replies: {
      200: {
        meaning:
          "The JSON-RPC response, as a stream for older revisions. Errors of the protocol are JSON-RPC errors.",
        types: ["application/json", "text/event-stream"],
      },
      202: { meaning: "A notification was received." },
    },
    handle: answerMcp,
  }),
];

async function answerMcp(call: Call<unknown, Record<string, unknown>>, services: Services): Promise<Reply> {
  const { incoming, outgoing, body, signal } = call;
  const { createHttpTools } = await import("../../../base/mcp-server.ts");
  const server = createHttpTools({
    version: services.facts.daemon.replace(/^.*\//, ""),
    list: async () => listTools(),
    call: (name, input, gone) => runTool(call, services, name, input, AbortSignal.any([gone, signal])),
  });
  try {
    const response = await server.fetch(toRequest(incoming, body, signal), { parsedBody: body });
    const type = response.headers.get("content-type");
    outgoing.writeHead(response.status, type === null ? {} : { "content-type": type });
    outgoing.end(await response.text());
    return "streaming";
  } finally {
    await server.close();
  }
}

function toRequest(incoming: IncomingMessage, body: object, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers))
    if (typeof value === "string" && name !== "content-length") headers.set(name, value);
  return new Request("http://localhost/mcp", { method: "POST", headers, body: JSON.stringify(body), signal });
}

function runTool(
  { asker, key }: Pick<Call<unknown, unknown>, "asker" | "key">,
  { manager }: Services,
  name: string,
  input: unknown,
  signal: AbortSignal,
) {
  return callTool({ name, input }, { manager, signal, ...defined({ self: asker, key }) });
}
