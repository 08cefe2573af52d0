// A small MCP server on stdio, for agents that connect to one. Its only tool returns SECRET of its environment.
import { createInterface } from "node:readline";

const TOOL = {
  name: "reveal",
  description: "returns the secret",
  inputSchema: { type: "object", properties: {} },
};

const METHODS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "vault", version: "1" },
  }),
  "tools/list": () => ({ tools: [TOOL] }),
  "tools/call": () => ({ content: [{ type: "text", text: `secret: ${process.env.SECRET}` }] }),
  ping: () => ({}),
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = METHODS[method]?.(params);
  const error = { code: -32601, message: `no ${method}` };
  const reply = answer === undefined ? { error } : { result: answer };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...reply })}\n`);
});
