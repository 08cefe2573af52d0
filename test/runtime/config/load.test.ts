// The layers of the configuration: which one wins, how they are put together, and how faults are reported.
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { PRESETS } from "../../../src/runtime/providers/presets.ts";
import { ROOT } from "../../support/root.ts";
import { Places } from "./places.ts";

let places: Places;
beforeEach(() => {
  places = new Places();
});
afterEach(() => places.remove());

describe("precedence", () => {
  test("without any file there are the defaults and every preset", async () => {
    const { config, warnings, sources } = await places.load();
    expect(config).toMatchObject({
      defaultAgent: "build",
      maxTurns: 25,
      sandbox: { mode: "workspace-write" },
    });
    expect(Object.keys(config.providers)).toEqual(Object.keys(PRESETS));
    expect({ warnings, sources }).toEqual({ warnings: [], sources: [] });
  });

  test("user file, project file, --config, environment and flags win over each other in that order", async () => {
    const budget = (maxContextTokens: number) => ({ context: { main: { maxContextTokens } } });
    const told = async (more = {}) => (await places.load(more)).config.context.main.maxContextTokens;
    places.user(budget(40_000));
    expect(await told()).toBe(40_000);
    places.project(budget(30_000));
    expect(await told()).toBe(30_000);
    places.write(join(places.cwd, "other.json"), budget(50_000));
    expect(await told({ configPath: "other.json" })).toBe(50_000);
    const env = { ...places.env, DEMIAN_MAIN_MAX_CONTEXT_TOKENS: "60000" };
    expect(await told({ configPath: "other.json", env })).toBe(60_000);
    expect(await told({ configPath: "other.json", env, flags: budget(70_000) })).toBe(70_000);
    const { sources } = await places.load({ configPath: "other.json", env, flags: {} });
    expect(sources.map(({ scope }) => scope)).toEqual([
      "user",
      "project",
      "explicit",
      "environment",
      "flags",
    ]);
  });

  test("objects are merged, lists replaced, but permissions and hooks of all layers count", async () => {
    const deny = (tool: string) => ({ tool, decision: "deny" });
    const hook = (name: string) => ({ name, event: "Stop", command: "true" });
    places.user({ permissions: [deny("bash")], hooks: [hook("a")], sandbox: { network: "deny" } });
    const flags = { permissions: [deny("grep")], hooks: [hook("b")], sandbox: { mode: "read-only" } };
    const { config } = await places.load({ flags });
    expect(config.permissions.map(({ tool }) => tool)).toEqual(["bash", "grep"]);
    expect(config.hooks.map(({ name }) => name)).toEqual(["a", "b"]);
    expect(config.sandbox).toMatchObject({ network: "deny", mode: "read-only" });
  });

  test("a provider adds to the preset of its key, and one of another type replaces it", async () => {
    places.user({
      providers: { openai: { model: "m", headers: { "X-A": "1" } }, groq: { type: "anthropic", model: "c" } },
    });
    const { providers } = (await places.load()).config;
    expect(providers["openai"]).toEqual({ ...PRESETS["openai"], model: "m", headers: { "X-A": "1" } });
    expect(providers["groq"]).toEqual({ type: "anthropic", model: "c" });
  });

  test("a literal key replaces the variable of the preset, and vice versa", async () => {
    places.user({ providers: { openai: { apiKey: "k" } } });
    expect((await places.load()).config.providers["openai"]).not.toHaveProperty("apiKeyEnv");
    const flags = { providers: { openai: { apiKeyEnv: "OTHER" } } };
    const { openai } = (await places.load({ flags })).config.providers;
    expect(openai).toMatchObject({ apiKeyEnv: "OTHER" });
    expect(openai).not.toHaveProperty("apiKey");
  });

  test("an agent of a stronger layer replaces one of the same name as a whole, and that is reported", async () => {
    const agent = (description: string) => ({ description, prompt: { system: "s" }, tools: { visible: [] } });
    places.user({ agents: { a: { ...agent("first"), hidden: true } } });
    const { config, warnings, agentSources } = await places.load({
      flags: { agents: { a: agent("second") } },
    });
    expect(config.agents["a"]).toMatchObject({ description: "second" });
    expect(config.agents["a"]).not.toHaveProperty("hidden");
    expect(warnings.join()).toMatch(/"a" overrides the one in .*config\.json/);
    expect(agentSources.get("a")).toMatchObject({ scope: "user", trusted: true });
  });

  test("in the home directory the user's file is not a project's too", async () => {
    places.user({ defaultProvider: "ollama" });
    const { config, warnings, sources, project } = await places.load({ cwd: places.home });
    expect(config.defaultProvider).toBe("ollama");
    expect({ warnings, project, count: sources.length }).toEqual({
      warnings: [],
      project: undefined,
      count: 1,
    });
  });
});

describe("older names and the documented example", () => {
  test("the documented configuration loads unchanged", async () => {
    places.user(readFileSync(join(ROOT, "test/fixtures/demian/config-of-the-spec.json"), "utf8"));
    const { config, warnings } = await places.load();
    expect(config.providers["azure"]).toMatchObject({ model: "azure-deployment-name" });
    expect(config.context.subAgent.maxContextTokens).toBe(12_000);
    expect(warnings).toEqual([]);
  });

  test("maxInputTokens and compressAtRatio are taken, unless today's name is there", async () => {
    places.user({ context: { main: { maxInputTokens: 9000, compressAtRatio: 0.5 } } });
    expect((await places.load()).config.context.main).toMatchObject({
      maxContextTokens: 9000,
      compactAtRatio: 0.5,
    });
    places.user({ context: { main: { maxInputTokens: 9000, maxContextTokens: 8000 } } });
    expect((await places.load()).config.context.main.maxContextTokens).toBe(8000);
  });

  test("trust of every project cannot be written into a file", async () => {
    places.user({ trust: { project: true, userTools: true } });
    const { config, warnings } = await places.load();
    expect(config.trust.project).toBe(false);
    expect(config.trust.userTools).toBe(true);
    expect(warnings).toEqual([expect.stringMatching(/trust\.project" is ignored.*--trust-project/)]);
  });
});

describe("faults", () => {
  const fails = async (content: unknown, pattern: RegExp, more = {}) => {
    places.user(content);
    await expect(places.load(more)).rejects.toMatchObject({
      code: "config_invalid",
      message: expect.stringMatching(pattern),
    });
  };

  test.each([
    ['{\n  "maxTurns": 5,\n}', /config\.json:3:1: expected a key in double quotes, found "}" \(an extra ","/],
    ['{"a" 1}', /:1:6: expected ":" after "a", found "1"/],
    ["// hello\n{}", /:1:1: .*a comment, which JSON does not allow/],
    ['{"maxTurns": 5', /:1:15: expected "," or "}", found the end of the file/],
    ['{"maxTurns": 5} x', /:1:17: expected the end of the file, found "x"/],
    ['{"a": tru}', /:1:7: expected a value/],
    ['{"a": "x\ny"}', /:1:7: an unterminated string/],
    ['{"a": "\\q"}', /:1:7: .*escape/],
    ['{"a": 1e999}', /out of range/],
    ['{"a": 01}', /expected "," or "}", found "1"/],
    ['{"permissions": [],\n "permissions": []}', /:2:2: duplicate key "permissions"/],
    ['{"x": {"__proto__": {}}}', /:1:8: the key "__proto__" is not allowed/],
    ['{"constructor": {}}', /"constructor" is not allowed/],
    [`${'{"a":'.repeat(80)}1${"}".repeat(80)}`, /nested deeper than 64/],
    ["[1]", /expected an object/],
  ])("%j is refused with line and column", async (text, pattern) => {
    await fails(text, pattern);
  });

  test.each([
    [{ maxTurn: 5 }, /config\.json: \/maxTurn: unknown key; did you mean "maxTurns"\?/],
    [{ sandbox: { mod: "off" } }, /\/sandbox\/mod: unknown key; did you mean "mode"\?/],
    [{ sandbox: { zzzzzz: 1 } }, /\/sandbox\/zzzzzz: unknown key; known keys: mode, network/],
    [{ maxTurns: "many" }, /\/maxTurns: expected (number|int), not "many"/],
    [{ maxTurns: 0 }, /\/maxTurns: .*>=1, not 0/],
    [{ sandbox: "off" }, /\/sandbox: expected object, not "off"/],
    [
      { sandbox: { mode: "loose" } },
      /\/sandbox\/mode: expected one of "off"\|"read-only"\|"workspace-write", not "loose"/,
    ],
    [
      { providers: { openai: { baseUrl: "x" } } },
      /\/providers\/openai\/baseUrl: unknown key; did you mean "baseURL"\?/,
    ],
    [
      { providers: { mine: { model: "m" } } },
      /\/providers\/mine\/type: expected one of openai-compatible, anthropic/,
    ],
    [{ providers: { mine: { type: "openai-compatible" } } }, /\/providers\/mine\/baseURL: .*missing/],
    [
      { providers: { mine: { type: "openai-compatible", baseURL: "file:///x" } } },
      /\/providers\/mine\/baseURL/,
    ],
    [{ agents: { a: { prompt: { system: "x" } } } }, /\/agents\/a\/description: .*missing/],
    [
      {
        agents: {
          a: {
            description: "d",
            prompt: { system: "x" },
            tools: { visible: [] },
            provider: { baseURL: "x" },
          },
        },
      },
      /\/agents\/a\/provider\/baseURL: unknown key/,
    ],
    [{ agents: { "a b": {} } }, /"a b" is not a valid name/],
    [{ context: { main: { maxContextTokens: -1 } } }, /\/context\/main\/maxContextTokens/],
    [{ hooks: [{ name: "x", event: "PreTool", command: "x" }] }, /\/hooks\/0\/event/],
  ])("%j is refused with field, expectation and guess", async (content, pattern) => {
    await fails(content, pattern);
  });

  test("a fault in an appended list is numbered as in its own file, and names that file", async () => {
    places.user({ permissions: [{ tool: "bash", decision: "deny" }] });
    const path = join(places.cwd, "other.json");
    places.write(path, { permissions: [{ tool: "bash", decision: "never" }] });
    await expect(places.load({ configPath: path })).rejects.toMatchObject({
      message: expect.stringMatching(/other\.json: \/permissions\/0\/decision/),
    });
  });

  test("several faults are reported at once", async () => {
    await fails({ maxTurns: 0, defaultAgent: 5 }, /maxTurns[\s\S]*defaultAgent|defaultAgent[\s\S]*maxTurns/);
  });

  test("variables and flags are named", async () => {
    const env = { ...places.env, DEMIAN_MAIN_COMPACT_AT_RATIO: "lots" };
    await fails({}, /^DEMIAN_MAIN_COMPACT_AT_RATIO: expected a number, not "lots"/, { env });
    await fails({}, /^DEMIAN_MAIN_COMPACT_AT_RATIO: \/context\/main\/compactAtRatio/, {
      env: { ...places.env, DEMIAN_MAIN_COMPACT_AT_RATIO: "7" },
    });
    await fails({}, /^the command line: \/maxTurns/, { flags: { maxTurns: 0 } });
  });

  test("an empty variable counts as unset, and an empty file as none", async () => {
    places.user(" \n");
    const env = { ...places.env, DEMIAN_MAIN_COMPACT_AT_RATIO: "" };
    expect((await places.load({ env })).config.context.main.compactAtRatio).toBe(0.7);
  });

  test("a file longer than 1 MiB, a directory and a pipe are refused at once", async () => {
    await fails(`"${"x".repeat(1_048_576)}"`, /larger than 1 MiB/);
    places.user({});
    await expect(places.load({ configPath: "." })).rejects.toMatchObject({
      message: expect.stringMatching(/not a regular file/),
    });
    execFileSync("mkfifo", [join(places.cwd, "pipe")]);
    await expect(places.load({ configPath: "pipe" })).rejects.toMatchObject({
      message: expect.stringMatching(/not a regular file/),
    });
  });

  test("bytes that are not UTF-8 are refused", async () => {
    await fails(Buffer.from([0x7b, 0xff, 0x7d]), /is not UTF-8/);
  });

  test("--config must exist", async () => {
    await expect(places.load({ configPath: "none.json" })).rejects.toMatchObject({
      message: expect.stringMatching(/--config: no such file: .*none\.json/),
    });
  });

  test("a world-writable file is reported; a symlink is fine for the user", async () => {
    places.write(join(places.base, "dotfiles.json"), { maxTurns: 7 });
    mkdirSync(join(places.home, ".demian"));
    symlinkSync(join(places.base, "dotfiles.json"), places.userFile);
    chmodSync(join(places.base, "dotfiles.json"), 0o666);
    const { config, warnings } = await places.load();
    expect(config.maxTurns).toBe(7);
    expect(warnings).toEqual([expect.stringMatching(/is writable by everyone/)]);
  });
});
