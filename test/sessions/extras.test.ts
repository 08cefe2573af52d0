// MCP servers of sessions: chosen by name when a session is spawned, read from the configuration when its agent starts.
import { expect, test } from "vitest";
import { Extras } from "../../src/sessions/agent/extras.ts";
import { FakeBackend, settle } from "./fakes.ts";
import { runOf, spawn, world } from "./system.ts";

const mcp = {
  docs: { command: "docs-mcp", args: ["-v"], env: { KEY: `a-\${DOCS_KEY}` } },
  web: { url: "https://web.example/mcp", headers: {} },
};
const extras = (env: Record<string, string> = { DOCS_KEY: "s3" }) =>
  new Extras({ mcp, env, listTools: () => [] });

test("an agent gets the servers of its session, with secrets from the daemon's environment", async () => {
  const notify = {
    ...{ allowUrls: [], on: [], children: false, remindMs: 0, identity: {}, userAgent: "t" },
    env: { DOCS_KEY: "s3" },
  };
  const on = await world({ mcp, notify });
  await spawn(on, "s", { mcp: ["docs", "docs"] });
  await settle();
  expect(runOf(on, "s").order.mcp).toEqual([
    { name: "docs", command: "docs-mcp", args: ["-v"], env: { KEY: "a-s3" } },
  ]);
  expect(await on.manager.view("s")).toMatchObject({ mcp: ["docs"] });
  expect(JSON.stringify(on.store)).not.toContain("s3");
});

test("a name that is not configured is refused with those that are, before anything is made", async () => {
  const on = await world({ mcp });
  await expect(spawn(on, "s", { mcp: ["dcos"] })).rejects.toThrow(
    'no MCP server "dcos" (configured: docs, web)',
  );
  await expect(on.manager.view("s")).rejects.toThrow("session");
});

test("a backend that takes none says so", () => {
  const plain = Object.assign(new FakeBackend(), { extras: undefined });
  expect(() => extras().check(plain, { mcp: ["docs"] })).toThrow("fake takes no MCP servers");
});

test("a missing variable fails the start and is named", () => {
  expect(() => extras({}).give({ mcp: ["docs"] })).toThrow(
    "[mcp.docs] needs the variable DOCS_KEY, which the daemon's environment lacks",
  );
});

test("an adopted agent continues without a server that is no longer configured", () => {
  expect(extras().giveKept({ mcp: ["gone", "web"] })).toEqual({ mcp: [{ name: "web", ...mcp.web }] });
  expect(extras({}).giveKept({ mcp: ["docs"] })).toEqual({});
});
