// A tool server of the Model Context Protocol, for `blemees mcp` and for /mcp on HTTP: both the 2026-07-28 revision and older
// handshakes. Import it on demand: the SDK is large.

import type { Readable, Writable } from "node:stream";
import { createMcpHandler, type McpHttpHandler, Server } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import type { JsonObject } from "./json.ts";

export interface ToolSource {
  version: string;
  list(): Promise<readonly { name: string; description: string; inputSchema: JsonObject }[]>;
  /** Never rejects. */
  call(
    name: string,
    input: unknown,
    signal: AbortSignal,
  ): Promise<{ text: string; isError?: true | undefined }>;
}

/** Answers one request. Nothing is kept between requests. */
export function createHttpTools(source: ToolSource): McpHttpHandler {
  return createMcpHandler(() => createServer(source), { responseMode: "json" });
}

/** Resolves when the client has closed its end, or `signal` aborts. */
export async function serveTools(
  source: ToolSource,
  { input, output, signal }: { input: Readable; output: Writable; signal: AbortSignal },
): Promise<void> {
  const handle = serveStdio(() => createServer(source), {
    transport: new StdioServerTransport(input, output),
  });
  await new Promise<void>((resolve) => {
    input.once("end", resolve);
    input.once("close", resolve);
    signal.addEventListener("abort", () => resolve(), { once: true });
    if (signal.aborted) resolve();
  });
  await handle.close();
}

function createServer({ version, list, call }: ToolSource): Server {
  const server = new Server({ name: "blemees", version }, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/list", async () => ({
    tools: (await list()).map(({ inputSchema, ...tool }) => ({
      ...tool,
      inputSchema: { ...inputSchema, type: "object" as const },
    })),
  }));
  server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
    const { text, isError } = await call(params.name, params.arguments ?? {}, mcpReq.signal);
    return { content: [{ type: "text" as const, text }], ...(isError === true ? { isError } : {}) };
  });
  return server;
}
