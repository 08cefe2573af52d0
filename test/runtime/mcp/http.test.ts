import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import type { AgentDefinition } from "../../../src/runtime/agents/types.ts";
import { McpHub } from "../../../src/runtime/mcp/hub.ts";
import type { ToolContext, ToolResult } from "../../../src/runtime/tools/types.ts";

const AGENT = { tools: { visible: ["mcp__*"] } } as unknown as AgentDefinition;
const NEVER = new AbortController().signal;

let server: Server | undefined;
let hub: McpHub | undefined;

afterEach(async () => {
  await hub?.close();
  server?.closeAllConnections();
  server?.close();
});

type Call = (message: { id: number }, response: ServerResponse, request: IncomingMessage) => void;

/** A server over HTTP with one tool. */
async function serve(call: Call, refuse?: number): Promise<string> {
  const results: Record<string, object> = {
    initialize: {
      protocolVersion: "2025-06-18",
      serverInfo: { name: "h", version: "1" },
      capabilities: { tools: {} },
    },
    "tools/list": { tools: [{ name: "t", inputSchema: { type: "object" } }] },
  };
  const made = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on("end", () => {
      if (refuse !== undefined) return response.writeHead(refuse).end();
      if (request.method !== "POST") return response.writeHead(405).end();
      const message = JSON.parse(body) as { id?: number; method: string };
      if (message.id === undefined) return response.writeHead(202).end();
      response.setHeader("content-type", "application/json");
      const { id } = message;
      const result = results[message.method];
      if (result !== undefined) return response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
      return call({ id }, response, request);
    });
  });
  server = made;
  await new Promise<void>((resolve) => made.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(made.address() as AddressInfo).port}/mcp`;
}

async function connect(url: string, headers: Record<string, string> = {}): Promise<string[]> {
  const warnings: string[] = [];
  const config = { url, headers, timeoutMs: 5000 };
  hub = new McpHub([{ name: "h", origin: "user", config }], {
    cwd: "/tmp",
    userEnv: { TOKEN: "s3cret" },
    env: {},
  });
  hub.start({ warn: (message) => void warnings.push(message), changed: () => undefined });
  await hub.settle(NEVER);
  return warnings;
}

function run(): Promise<ToolResult> {
  const [tool] = hub?.tools(AGENT) ?? [];
  if (tool === undefined) throw new Error("no tool");
  const context = { signal: NEVER, progress: () => undefined, keepOutput: async () => "kept" };
  return tool.execute({}, { title: "", targets: [] }, context as unknown as ToolContext);
}

describe("a server over HTTP", () => {
  test("gets its headers with variables filled in, and its tools work", async () => {
    let sent: string | undefined;
    const url = await serve(({ id }, response, request) => {
      sent = request.headers.authorization;
      response.end(
        JSON.stringify({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text: "fine" }] } }),
      );
    });
    expect(await connect(url, { Authorization: "Bearer $\u007bTOKEN}" })).toEqual([]);
    expect(await run()).toMatchObject({ ok: true, content: "fine" });
    expect(sent).toBe("Bearer s3cret");
    expect(JSON.stringify(hub?.list())).not.toContain("s3cret");
  });

  test("that sends more than the limit fails the call at once, by name", async () => {
    const url = await serve((_message, response) => {
      const feed = (): void => {
        while (response.write(Buffer.alloc(1024 * 1024, 97)));
        response.once("drain", feed);
      };
      feed();
    });
    await connect(url);
    expect(await run()).toMatchObject({ ok: false, content: expect.stringContaining("more than 16 MiB") });
  });

  test("that redirects elsewhere does not get the headers there", async () => {
    let stolen = 0;
    const other = createServer((_request, response) => {
      stolen += 1;
      response.end();
    });
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as AddressInfo;
    const url = await serve((_message, response) =>
      response.writeHead(307, { location: `http://127.0.0.1:${port}/` }).end(),
    );
    await connect(url, { Authorization: "Bearer x" });
    expect(await run()).toMatchObject({ ok: false });
    expect(stolen).toBe(0);
    other.close();
  });

  test("that cannot be reached is reported with the reason", async () => {
    expect(await connect("http://127.0.0.1:9/mcp")).toEqual([
      expect.stringMatching(/not available: fetch failed: /),
    ]);
  });

  test("that wants a login is reported with what to do", async () => {
    expect(await connect(await serve(() => undefined, 401))).toEqual([
      expect.stringMatching(/HTTP 401.*"headers"/),
    ]);
  });
});
