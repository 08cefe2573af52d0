import { describe, expect, test } from "vitest";
import { mergeConfig, nestConfig, toFeatureFlags } from "../../../src/backends/codex/config-keys.ts";
import { checkCodexOptions } from "../../../src/backends/codex/options.ts";
import type { Transport } from "../../../src/backends/codex/program.ts";

function check(block: Record<string, unknown>, allowConfig: string[] = [], transport?: Transport) {
  return checkCodexOptions(block, { allowConfig, transport });
}

function refusal(code: string, message: string) {
  return expect.objectContaining({ code, message: expect.stringContaining(message) });
}

describe("options.codex", () => {
  test("every option of the reference passes, and null means unset", () => {
    const block = {
      model: "gpt-5.5",
      profile: "fast",
      cwd: "/tmp",
      sandbox: "workspace-write",
      "approval-policy": "untrusted",
      "base-instructions": "- be brief",
      "developer-instructions": "d",
      "compact-prompt": "c",
      config: { model_verbosity: "low" },
      include_raw_events: true,
      user_echo: false,
      effort: "high",
      collaboration_mode: "plan",
      output_schema: { type: "object" },
      own_process: true,
    };
    expect(check(block)).toEqual(block);
    expect(check({ ...block, model: null, config: null })).not.toHaveProperty("model");
  });

  test.each([
    [{ modle: "x" }, "/options/codex/modle: unexpected property"],
    [{ sandbox: "none" }, "/options/codex/sandbox: "],
    [{ "approval-policy": "always" }, "/options/codex/approval-policy: "],
    [{ profile: "../evil" }, "/options/codex/profile: expected a profile name"],
    [{ profile: "-x" }, "/options/codex/profile: expected a profile name"],
    [{ cwd: "/a\0b" }, "/options/codex/cwd: a NUL character is not allowed"],
    [
      { config: { features: { "--evil": true } } },
      "/options/codex/config/features/--evil: expected the name",
    ],
    [{ config: { features: { a: "yes" } } }, "expected features.<name>: true or false"],
    [{ config: { profile: "x" } }, "/options/codex/config/profile: use the option profile"],
  ])("%j is refused with its path", (block, words) => {
    expect(() => check(block)).toThrow(refusal("invalid_message", words));
  });

  test("granular approvals pass as a whole only", () => {
    const granular = {
      sandbox_approval: true,
      rules: true,
      skill_approval: false,
      request_permissions: true,
      mcp_elicitations: true,
    };
    expect(check({ "approval-policy": { granular } })).toEqual({ "approval-policy": { granular } });
    expect(() => check({ "approval-policy": { granular: { rules: true } } })).toThrow();
  });

  test("on-failure is refused with the valid values, unless the old transport takes it", () => {
    const block = { "approval-policy": "on-failure" };
    const words =
      '/options/codex/approval-policy: "on-failure" no longer exists in Codex; use untrusted, on-request or never';
    expect(() => check(block, [], "app-server")).toThrow(refusal("invalid_message", words));
    expect(check(block, [], "mcp-server")).toEqual(block);
    expect(check(block)).toEqual(block);
  });
});

describe("keys of config that are code", () => {
  test.each([
    [{ notify: ["sh"] }, "notify"],
    [{ mcp_servers: { x: { command: "sh" } } }, "mcp_servers/x/command"],
    [{ "mcp_servers.x.command": "sh" }, "mcp_servers/x/command"],
    [{ "mcp_servers.x": { command: "sh" } }, "mcp_servers/x/command"],
    [{ mcp_servers: {} }, "mcp_servers"],
    [{ sandbox_mode: "danger-full-access" }, "sandbox_mode"],
    [{ "sandbox_workspace_write.network_access": true }, "sandbox_workspace_write/network_access"],
    [{ approval_policy: "never" }, "approval_policy"],
    [{ permissions: { all: 1 } }, "permissions/all"],
    [{ model_providers: { evil: { base_url: "http://x" } } }, "model_providers/evil/base_url"],
    [{ projects: { "/": { trust_level: "trusted" } } }, "projects"],
    [{ hooks: { stop: [] } }, "hooks/stop"],
  ])("%j is an unsafe flag", (config, path) => {
    expect(() => check({ config })).toThrow(refusal("unsafe_flag", `/options/codex/config/${path}`));
  });

  test.each([
    "'mcp_servers.evil.command'",
    '"mcp_servers.evil".command',
    'mcp_servers."x.y".command',
    ' "mcp_servers" .x',
    "'model_providers.mock.base_url'",
    "a.__proto__.b",
    "mcp_servers..x",
    "",
    "mcp\u200b_servers",
  ])("%j hides nothing: names are plain, and joined by dots only", (key) => {
    expect(() => check({ config: { [key]: "sh" } })).toThrow(
      refusal("invalid_message", "expected names of [A-Za-z0-9_-], joined by dots"),
    );
  });

  test("keys that the daemon allows by name pass, their neighbours do not", () => {
    const docs = { mcp_servers: { docs: { command: "docs-server" } } };
    expect(check({ config: docs }, ["mcp_servers.docs"])).toEqual({ config: docs });
    expect(() => check({ config: { mcp_servers: { docs2: {} } } }, ["mcp_servers.docs"])).toThrow();
    expect(() => check({ config: { mcp_servers: { "docs.x": {} } } }, ["mcp_servers.docs"])).toThrow();
    expect(() => check({ config: { mcp_servers: { evil: {} } } }, [""])).toThrow();
    expect(check({ config: { notify: ["x"] } }, ["notify"])).toEqual({ config: { notify: ["x"] } });
  });

  test("other keys are free", () => {
    const config = { model_verbosity: "low", tools: { web_search: true }, "a.b": 1 };
    expect(check({ config })).toEqual({ config });
  });
});

describe("config on the wire", () => {
  test("features become flags of the process, in a fixed order, and leave the config", () => {
    const config = { features: { b: true, a: false }, "features.c": true, model_verbosity: "low" };
    expect(toFeatureFlags(config, "")).toEqual(["--disable", "a", "--enable", "b", "--enable", "c"]);
    expect(nestConfig(config)).toEqual({ model_verbosity: "low" });
  });

  test("dotted and nested spellings end up in one object, the later one wins", () => {
    expect(nestConfig({ "a.b": 1, a: { c: 2 }, "a.b.d": 3 })).toEqual({ a: { b: { d: 3 }, c: 2 } });
    expect(nestConfig({ shell_environment_policy: { set: { "A.B": "1" } } })).toEqual({
      shell_environment_policy: { set: { "A.B": "1" } },
    });
    expect(mergeConfig({ a: { b: 1, c: [1] }, d: 1 }, { a: { c: [2] }, d: { e: 1 } })).toEqual({
      a: { b: 1, c: [2] },
      d: { e: 1 },
    });
  });
});
