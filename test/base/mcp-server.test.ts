// A tool server in both generations of the protocol.
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { serveTools } from "../../src/base/mcp-server.ts";

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "t", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};
const TOOL = { name: "look", description: "looks", inputSchema: { type: "object", properties: {} } };

function connect() {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const called: unknown[] = [];
  const ended = serveTools(
    {
      version: "1",
      list: async () => [TOOL],
      call: async (name, given) => {
        called.push([name, given]);
        return name === "look" ? { text: "seen" } : { text: `no ${name}`, isError: true };
      },
    },
    { input, output, signal: new AbortController().signal },
  );
  const replies: { id: number; result: Record<string, unknown> }[] = [];
  let waiting: () => void = () => undefined;
  output.on("data", (chunk: Buffer) => {
    for (const line of chunk.toString().split("\n").filter(Boolean)) replies.push(JSON.parse(line));
    waiting();
  });
  const ask = async (id: number, method: string, params: object) => {
    input.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    for (;;) {
      const found = replies.find((reply) => reply.id === id);
      if (found !== undefined) return found.result;
      await new Promise<void>((resolve) => {
        waiting = resolve;
      });
    }
  };
  return { ask, input, ended, called };
}

test("a client of an older revision shakes hands, lists and calls", async () => {
  const { ask, input, ended, called } = connect();
  const clientInfo = { name: "t", version: "1" };
  expect(
    await ask(1, "initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo }),
  ).toMatchObject({ protocolVersion: "2025-06-18", serverInfo: { name: "blemees" } });
  expect(await ask(2, "tools/list", {})).toEqual({ tools: [TOOL] });
  expect(await ask(3, "tools/call", { name: "look", arguments: { id: "x" } })).toEqual({
    content: [{ type: "text", text: "seen" }],
  });
  expect(await ask(4, "tools/call", { name: "jump" })).toMatchObject({ isError: true });
  expect(called).toEqual([
    ["look", { id: "x" }],
    ["jump", {}],
  ]);
  input.end();
  await ended;
});

test("a client of 2026-07-28 needs no handshake", async () => {
  const { ask, input, ended } = connect();
  expect(await ask(1, "tools/list", { _meta: META })).toMatchObject({ tools: [TOOL] });
  const said = await ask(2, "tools/call", { _meta: META, name: "look", arguments: {} });
  expect(said).toMatchObject({ content: [{ type: "text", text: "seen" }] });
  input.end();
  await ended;
});
