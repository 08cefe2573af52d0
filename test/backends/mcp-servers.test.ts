// The MCP servers of a session in the formats of the agents.
import { existsSync, readFileSync, statSync } from "node:fs";
import { expect, test } from "vitest";
import { addOwnTools, toAcpServers } from "../../src/backends/acp/mcp-servers.ts";
import { writeMcpFile } from "../../src/backends/claude/mcp-file.ts";
import { withMcpServers } from "../../src/backends/codex/mcp-servers.ts";
import type { GivenMcpServer } from "../../src/backends/types.ts";
import { tempDir } from "./temp-dir.ts";

const room = tempDir("mcp-file");
const SERVERS: GivenMcpServer[] = [
  { name: "docs", command: "docs-mcp", args: ["-v"], env: { KEY: "k" } },
  { name: "web", url: "https://w.example/mcp", headers: { Authorization: "h" } },
];

test("claude reads a file that only the user can read, and that is removed after the start", async () => {
  const file = await writeMcpFile(SERVERS, { XDG_RUNTIME_DIR: room });
  if (file === undefined) throw new Error("no file");
  expect(statSync(file.path).mode & 0o777).toBe(0o600);
  expect(JSON.parse(readFileSync(file.path, "utf8"))).toEqual({
    mcpServers: {
      docs: { type: "stdio", command: "docs-mcp", args: ["-v"], env: { KEY: "k" } },
      web: { type: "http", url: "https://w.example/mcp", headers: { Authorization: "h" } },
    },
  });
  await file.remove();
  expect(existsSync(file.path)).toBe(false);
  expect(await writeMcpFile(undefined, {})).toBeUndefined();
});

test("codex gets them as configuration, beside the client's own", () => {
  const params = { config: { model: "m", mcp_servers: { mine: { command: "x" } } } };
  expect(withMcpServers(params, SERVERS)).toEqual({
    config: {
      model: "m",
      mcp_servers: {
        mine: { command: "x" },
        docs: { command: "docs-mcp", args: ["-v"], env: { KEY: "k" } },
        web: { url: "https://w.example/mcp", http_headers: { Authorization: "h" } },
      },
    },
  });
  expect(withMcpServers(params, undefined)).toBe(params);
});

const place = (agentCapabilities: object, mcp = SERVERS) => ({
  name: "gemini",
  server: { intro: { agentCapabilities } },
  mcp,
});

test("an ACP agent gets them with its session", () => {
  expect(toAcpServers(place({ mcpCapabilities: { http: true } }))).toEqual([
    { name: "docs", command: "docs-mcp", args: ["-v"], env: [{ name: "KEY", value: "k" }] },
    {
      type: "http",
      name: "web",
      url: "https://w.example/mcp",
      headers: [{ name: "Authorization", value: "h" }],
    },
  ]);
});

test("an ACP agent gets the daemon's tools from a program that knows its session", () => {
  const order = { mcp: SERVERS.slice(0, 1), tools: [], env: { BLEMEES_SESSION_ID: "s" } };
  expect(addOwnTools(order, { daemon: { BLEMEES_SM: "/bin/sm" }, marker: "m:s" })).toEqual([
    SERVERS[0],
    {
      name: "blemees",
      command: "/bin/sm",
      args: ["mcp", "--no-start"],
      env: { BLEMEES_SESSION_ID: "s", BLEMEES_RUN_ID: "m:s" },
    },
  ]);
  expect(addOwnTools({ env: {} }, { daemon: {}, marker: "m" })).toBeUndefined();
});

test("an ACP agent that cannot use one of them is not started without it", () => {
  expect(() => toAcpServers(place({}))).toThrow(
    "gemini cannot use the MCP server web: it takes only programs",
  );
  expect(() => toAcpServers(place({ _meta: { demian: {} } }))).toThrow("connects to no MCP servers");
  expect(toAcpServers(place({ _meta: { demian: {} } }, []))).toEqual([]);
});
