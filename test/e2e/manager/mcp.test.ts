// MCP servers per session on the real claude and codex: chosen by name, with a secret that is on no command line.
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ROOT } from "../../support/root.ts";
import { processesWith } from "../processes.ts";
import { Machine } from "./machine.ts";

let machine: Machine;
beforeAll(async () => {
  machine = await Machine.create();
  mkdirSync(join(machine.home, "config/blemeesd"));
  const args = JSON.stringify([join(ROOT, "test/fakes/mcp-server.mjs")]);
  const vault = `[mcp.vault]\ncommand = "node"\nargs = ${args}\nenv = { SECRET = "\${VAULT_KEY}" }\n`;
  writeFileSync(join(machine.home, "config/blemeesd/config.toml"), vault);
  Object.assign(machine.env, { VAULT_KEY: "open-sesame" });
});
afterAll(() => machine.close());

test("claude and codex call a tool of a server that their sessions were given, and nobody else has it", async () => {
  await machine.spawn(
    "claude",
    "c",
    "--mcp",
    "vault",
    "--no-approvals",
    "-o",
    "permission_mode=bypassPermissions",
  );
  expect(await machine.say("c", "#mock:tool mcp__vault__reveal {}")).toContain("secret: open-sesame");
  const visible = processesWith(`HOME=${machine.home}`).map(({ command }) => command);
  expect(visible.join("\n")).not.toContain("open-sesame");
  expect(readdirSync(join(machine.home, "run")).filter((name) => name.includes("mcp"))).toEqual([]);
  await machine.spawn("codex", "x", "--mcp", "vault", "--no-approvals", "-o", "sandbox=danger-full-access");
  expect(await machine.say("x", "#mock:tool mcp__vault/reveal {}")).toContain("open-sesame");
  await machine.spawn("claude", "plain");
  expect(await machine.say("plain", "#mock:tool mcp__vault__reveal {}")).toContain("No such tool");
});

test("an unknown name is refused with the known ones", async () => {
  const { code, stderr } = await machine.sm("spawn", "claude", "--mcp", "valt");
  expect(code).toBe(1);
  expect(stderr).toContain('no MCP server "valt" (configured: vault)');
});
