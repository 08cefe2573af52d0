// `[mcp.NAME]` of the config file.
import { expect, test } from "vitest";
import { readMcpServers } from "../../src/daemon/mcp-servers.ts";

test("a table describes a program or a service", () => {
  const docs = { command: "docs-mcp", args: ["--root", "/d"] };
  const tracker = { url: "https://t.example/mcp", headers: { Authorization: "x" } };
  expect(readMcpServers({ docs, tracker }, "f")).toEqual({ docs: { ...docs, env: {} }, tracker });
  expect(readMcpServers(undefined, "f")).toEqual({});
});

test.each([
  [{ a: 1 }, "f: mcp.a: expected a table with at least"],
  [{ a: {} }, "f: mcp.a: expected command or url"],
  [{ a: { comand: "x" } }, 'f: mcp.a.comand: unknown key; did you mean "command"?'],
  [{ a: { command: "x", url: "http://t" } }, "f: mcp.a.command: conflicts with url"],
  [{ a: { command: "x", headers: {} } }, "f: mcp.a.headers: only for a server with url"],
  [{ a: { url: "ftp://t" } }, "f: mcp.a.url: expected an http or https URL"],
  [{ "a.b": { command: "x" } }, "f: mcp.a.b: the name is not valid"],
  [{ blemees: { command: "x" } }, "f: mcp.blemees: the name blemees is reserved"],
])("a mistake names the table and the key: %j", (value, message) => {
  expect(() => readMcpServers(value, "f")).toThrow(message);
});

test("a secret that is not valid is not repeated", () => {
  const read = () => readMcpServers({ a: { command: "x", env: { TOKEN: 4242 } } }, "f");
  expect(read).toThrow("f: mcp.a.env.TOKEN: expected string");
  expect(read).not.toThrow("4242");
});
