// The tools for managing agents over HTTP: as plain requests and by MCP, with the guard of every other route.
import { afterAll, beforeAll, expect, test } from "vitest";
import { createWorld, type World } from "./world.ts";

let on: World;
beforeAll(async () => {
  on = await createWorld();
});
afterAll(() => on.close());

const ACCEPT = { accept: "application/json, text/event-stream" };
const call = (name: string, params: object = {}) => ({
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name, arguments: {}, ...params },
});

test("the tools are listed, and a call that fails is a reply", async () => {
  const { body } = await on.ask("GET", "/tools");
  expect(body.tools).toHaveLength(7);
  const wrong = await on.ask("POST", "/tools/agents_jump", { body: {} });
  expect(wrong).toMatchObject({ status: 200, body: { isError: true } });
});

test("a client of an older revision is answered without a session", async () => {
  const clientInfo = { name: "t", version: "1" };
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
  const body = { jsonrpc: "2.0", id: 1, method: "initialize", params };
  const hello = await on.ask("POST", "/mcp", { body, headers: ACCEPT });
  expect(hello).toMatchObject({ status: 200 });
  expect(hello.text).toContain('"protocolVersion":"2025-06-18"');
  const said = await on.ask("POST", "/mcp", { body: call("agents_jump"), headers: ACCEPT });
  expect(said.text).toContain("unknown tool agents_jump");
});

test("a client of 2026-07-28 gets one JSON reply", async () => {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "t", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const headers = {
    ...ACCEPT,
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": "agents_jump",
  };
  const { body } = await on.ask("POST", "/mcp", { body: call("agents_jump", { _meta }), headers });
  expect(body).toMatchObject({ id: 1, result: { isError: true } });
});

test("on loopback it needs the token", async () => {
  const body = call("agents_look");
  const refused = await on.ask("POST", "/mcp", { body, tcp: true, headers: ACCEPT });
  expect(refused).toMatchObject({ status: 401 });
});
