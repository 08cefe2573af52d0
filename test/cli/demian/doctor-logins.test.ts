// The doctor's report on logins of other programs, with made-up logins.
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { checkClaudeCode } from "../../../src/cli/demian/doctor/claude-code.ts";
import { checkCodex } from "../../../src/cli/demian/doctor/codex.ts";
import { checkLogins } from "../../../src/cli/demian/doctor/logins.ts";
import { ClaudeCode } from "../../../src/runtime/config/login-providers.ts";
import { DemianConfig } from "../../../src/runtime/config/schema.ts";
import { PRESETS } from "../../../src/runtime/providers/presets.ts";

let home: string;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "demian-logins-")));
});
afterEach(() => rmSync(home, { recursive: true }));

const NOW = Date.UTC(2026, 0, 1);
const SECRET = "made-up-secret";

function token(claims: object): string {
  return ["{}", JSON.stringify(claims), SECRET]
    .map((part) => Buffer.from(part).toString("base64url"))
    .join(".");
}

function login(tokens: object, mode = 0o600): void {
  mkdirSync(join(home, ".codex"), { recursive: true });
  writeFileSync(join(home, ".codex/auth.json"), JSON.stringify({ tokens }));
  chmodSync(join(home, ".codex/auth.json"), mode);
}

async function codex(isUsed = true, change: object = {}) {
  const provider = { authStore: "auto", allowApiKeyFallback: false, ...change } as const;
  const checks = await checkCodex({ key: "codex", provider, env: { HOME: home }, isUsed, nowMs: NOW });
  expect(JSON.stringify(checks)).not.toContain(Buffer.from(SECRET).toString("base64url"));
  return checks;
}

describe("codex", () => {
  test("a login is reported with its expiry", async () => {
    login({ access_token: token({ exp: NOW / 1000 + 3600 }), refresh_token: SECRET });
    expect(await codex()).toEqual([
      {
        name: "codex",
        status: "ok",
        text: expect.stringMatching(/auth\.json, valid until 2026-01-01 01:00 UTC$/),
      },
    ]);
  });

  test("an expired login is a warning only if it cannot be renewed", async () => {
    const access_token = token({ exp: NOW / 1000 - 60 });
    login({ access_token, refresh_token: SECRET });
    expect(await codex()).toMatchObject([
      { status: "ok", text: expect.stringContaining("renewed on next use") },
    ]);
    login({ access_token });
    expect(await codex()).toMatchObject([{ status: "warn", todo: expect.stringContaining("codex login") }]);
  });

  test("a file that others can read is a warning with the command that fixes it", async () => {
    login({ access_token: token({ exp: NOW / 1000 + 3600 }) }, 0o644);
    expect(await codex()).toMatchObject([
      { status: "ok" },
      {
        status: "warn",
        text: expect.stringContaining("readable by other users"),
        todo: expect.stringContaining("chmod 600"),
      },
    ]);
  });

  test("a missing login is a warning only if it is used; a broken one always", async () => {
    expect(await codex(true)).toMatchObject([{ status: "warn", todo: "run `codex login`" }]);
    expect(await codex(false)).toEqual([]);
    mkdirSync(join(home, ".codex"));
    writeFileSync(join(home, ".codex/auth.json"), `{"tokens": ${SECRET}`);
    expect(await codex(true)).toMatchObject([
      { status: "fail", text: expect.stringContaining("is not valid JSON") },
    ]);
    expect(await codex(false)).toMatchObject([{ status: "warn" }]);
  });

  test("a key in place of a login counts only with allowApiKeyFallback", async () => {
    mkdirSync(join(home, ".codex"));
    writeFileSync(join(home, ".codex/auth.json"), JSON.stringify({ OPENAI_API_KEY: SECRET }), {
      mode: 0o600,
    });
    expect(await codex()).toMatchObject([
      { status: "warn", todo: expect.stringContaining("allowApiKeyFallback") },
    ]);
    expect(await codex(true, { allowApiKeyFallback: true })).toMatchObject([{ status: "ok" }]);
  });
});

describe("claude code", () => {
  const program = () => join(home, "claude");
  const claude = (isUsed = true, change: object = {}) => {
    const provider = ClaudeCode.parse({ type: "claudecode", runtime: "cli", cliPath: program(), ...change });
    const env = { HOME: home, PATH: "/usr/bin:/bin", DEMIAN_CLAUDE_SDK: join(home, "sdk.mjs") };
    return checkClaudeCode({
      key: "claudecode",
      provider,
      env,
      isUsed,
    });
  };
  const install = (version: string) =>
    writeFileSync(program(), `#!/bin/sh\necho "${version} (Claude Code)"\n`, { mode: 0o755 });
  const logIn = () => {
    mkdirSync(join(home, ".claude"));
    const kept = { claudeAiOauth: { accessToken: SECRET } };
    writeFileSync(join(home, ".claude/.credentials.json"), JSON.stringify(kept));
  };

  test("its version and login are reported, but no credentials", async () => {
    install("2.1.197");
    logIn();
    const checks = await claude();
    expect(checks).toEqual([
      { name: "claude code", status: "ok", text: `Claude Code 2.1.197 (${program()})` },
      { name: "claude code", status: "ok", text: "logged in" },
    ]);
    expect(JSON.stringify(checks)).not.toContain(SECRET);
  });

  test("one that is too old, missing, or without a login, is a warning if it is used", async () => {
    expect(await claude(false)).toEqual([]);
    expect(await claude()).toMatchObject([
      { status: "warn", text: expect.stringContaining("cliPath") },
      { status: "warn", text: expect.stringContaining("not logged in") },
    ]);
    install("1.0.9");
    expect(await claude()).toMatchObject([{ text: expect.stringContaining("claude update") }, {}]);
  });

  test("a missing Agent SDK is reported with what to install", async () => {
    const sdk = async () => (await claude(true, { runtime: "agent-sdk", cliPath: undefined }))[0];
    expect(await sdk()).toMatchObject({ status: "warn", text: expect.stringContaining("npm install -g") });
    writeFileSync(join(home, "sdk.mjs"), "");
    expect(await sdk()).toMatchObject({ status: "ok", text: "the Agent SDK is installed" });
  });
});

describe("all of them", () => {
  const logins = (more: object) =>
    checkLogins(DemianConfig.parse({ providers: PRESETS, ...more }), { HOME: home, PATH: home });

  test("without any login and without any use of one nothing is reported", async () => {
    expect(await logins({})).toEqual([]);
  });

  test("one that only an agent uses is reported too", async () => {
    const agent = {
      description: "d",
      prompt: { system: "s" },
      tools: { visible: [] },
      provider: { profile: "codex" },
    };
    expect(await logins({ agents: { reviewer: agent } })).toMatchObject([{ name: "codex", status: "warn" }]);
  });
});
