import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { getClaudeConfigDir } from "../../../../src/base/claude-wire/environment.ts";
import { buildClaudeEnvironment } from "../../../../src/runtime/external/claude-code/environment.ts";
import { findLoginProblem } from "../../../../src/runtime/external/claude-code/login.ts";

const KEYS = {
  ANTHROPIC_API_KEY: "k",
  ANTHROPIC_AUTH_TOKEN: "t",
  CLAUDE_CODE_USE_BEDROCK: "1",
  CLAUDE_CODE_USE_VERTEX: "1",
  ANTHROPIC_PROFILE: "company",
  ANTHROPIC_FEDERATION_RULE_ID: "r",
  ANTHROPIC_UNIX_SOCKET: "/s",
  ANTHROPIC_CUSTOM_HEADERS: "X-A: b\nAuthorization: Bearer k",
};
const KEPT = {
  HOME: "/h",
  PATH: "/bin",
  ANTHROPIC_BASE_URL: "http://127.0.0.1:1",
  CLAUDE_CODE_OAUTH_TOKEN: "o",
};

describe("the environment of Claude Code", () => {
  test("has nothing that would pay in place of the login", () => {
    const env = buildClaudeEnvironment({ ...KEPT, ...KEYS }, { sanitizeApiKeyEnv: true });
    expect(env).toMatchObject(KEPT);
    for (const name of Object.keys(KEYS)) expect(env).not.toHaveProperty(name);
  });

  test("has them where the user wants that", () => {
    expect(buildClaudeEnvironment(KEYS, { sanitizeApiKeyEnv: false })).toMatchObject(KEYS);
  });

  test("keeps headers that pay for nothing", () => {
    const env = buildClaudeEnvironment({ ANTHROPIC_CUSTOM_HEADERS: "X-A: b" }, { sanitizeApiKeyEnv: true });
    expect(env).toHaveProperty("ANTHROPIC_CUSTOM_HEADERS");
  });

  test("has what the provider's configuration adds, above all", () => {
    const config = { sanitizeApiKeyEnv: true, env: { ANTHROPIC_API_KEY: "mine", DISABLE_AUTOUPDATER: "0" } };
    expect(buildClaudeEnvironment(KEYS, config)).toMatchObject(config.env);
  });

  test("has no variables of an outer Claude Code", () => {
    const env = buildClaudeEnvironment(
      { CLAUDECODE: "1", CLAUDE_CODE_SESSION_ID: "x", CLAUDE_CODE_ENTRYPOINT: "cli" },
      { sanitizeApiKeyEnv: false },
    );
    expect(Object.keys(env).filter((name) => /CLAUDECODE|SESSION|ENTRYPOINT/.test(name))).toEqual([]);
  });
});

describe("a login", () => {
  let home: string;
  const env = () => ({ HOME: home });
  const write = (content: string) => {
    mkdirSync(join(home, ".claude"), { recursive: true });
    writeFileSync(join(home, ".claude/.credentials.json"), content);
  };

  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), "demian-login-"));
  });

  afterEach(() => rmSync(home, { recursive: true, force: true }));

  test("that is missing is reported, with what to do", async () => {
    expect(await findLoginProblem(env(), "linux")).toMatch(
      /not logged in: there is no .*\.credentials\.json; run `claude`/,
    );
  });

  test("is found in its file, or in a variable", async () => {
    write(JSON.stringify({ claudeAiOauth: { accessToken: "t" } }));
    expect(await findLoginProblem(env(), "linux")).toBeUndefined();
    expect(
      await findLoginProblem({ HOME: "/nowhere", CLAUDE_CODE_OAUTH_TOKEN: "t" }, "linux"),
    ).toBeUndefined();
  });

  test("is looked for in the configured directory", () => {
    expect(getClaudeConfigDir({ HOME: "/h" })).toBe("/h/.claude");
    expect(getClaudeConfigDir({ HOME: "/h", CLAUDE_CONFIG_DIR: "/c" })).toBe("/c");
  });

  test.each(["{}", "not json", '{"claudeAiOauth":{"accessToken":""}}'])(
    "that is none is missed: %s",
    async (content) => {
      write(content);
      const missing = await findLoginProblem(env(), "linux");
      expect(missing).toMatch(/\.credentials\.json/);
      expect(missing).toMatch(/`\/login`/);
    },
  );

  test("is taken for granted where it may be in the keychain", async () => {
    expect(await findLoginProblem(env(), "darwin")).toBeUndefined();
  });
});
