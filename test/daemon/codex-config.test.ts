import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadConfig } from "../../src/daemon/config.ts";
import { tempDir } from "../backends/temp-dir.ts";

const dir = tempDir("codex-config");

function load(env: Record<string, string> = {}, toml = "") {
  const file = join(mkdtempSync(join(dir, "c-")), "config.toml");
  writeFileSync(file, toml);
  return loadConfig({ flags: {}, env: { HOME: dir, XDG_RUNTIME_DIR: dir, ...env }, file }).config;
}

test("by default, Codex is found on PATH, its transport detected, shared, and bounded in its retries", () => {
  expect(load()).toMatchObject({
    codex_bin: "codex",
    codex_transport: "auto",
    codex_process: "shared",
    codex_retry_s: 300,
    codex_allow_config: [],
  });
});

test("passed-through keys are a list in the file and comma-separated names in the environment", () => {
  const toml = 'codex_allow_config = ["mcp_servers.docs", "notify"]\ncodex_process = "per-session"\n';
  expect(load({}, toml)).toMatchObject({
    codex_allow_config: ["mcp_servers.docs", "notify"],
    codex_process: "per-session",
  });
  expect(load({ BLEMEESD_CODEX_ALLOW_CONFIG: "notify, mcp_servers" }).codex_allow_config).toEqual([
    "notify",
    "mcp_servers",
  ]);
});

test.each([
  [{ BLEMEESD_CODEX_TRANSPORT: "telnet" }, "BLEMEESD_CODEX_TRANSPORT"],
  [{ BLEMEESD_CODEX_RETRY_S: "-1" }, "BLEMEESD_CODEX_RETRY_S"],
  [{ BLEMEESD_CODEX_ALLOW_CONFIG: "a,,b" }, "BLEMEESD_CODEX_ALLOW_CONFIG"],
])("%j is refused by name", (env, name) => {
  expect(() => load(env)).toThrow(name);
});
