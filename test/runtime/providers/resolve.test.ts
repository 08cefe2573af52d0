import { afterEach, describe, expect, test } from "vitest";
import { ClaudeCode, Codex } from "../../../src/runtime/config/login-providers.ts";
import { DemianConfig, ProviderConfig } from "../../../src/runtime/config/schema.ts";
import { PRESETS } from "../../../src/runtime/providers/presets.ts";
import {
  listProviderChoices,
  type ResolveOptions,
  resolveProvider,
} from "../../../src/runtime/providers/resolve.ts";
import { chatReply, chunk, type ModelServer, sse, startModelServer } from "../../support/model-server.ts";
import { askOf, listen, native } from "./ask.ts";

const KEY = "key-0123456789";
/** Read from the file only: on a Mac a keyring may hold a login. */
const CODEX = { ...Codex.parse(PRESETS["codex"]), authStore: "file" as const };
const AZURE = "https://mine.openai.azure.com/openai/v1";

const withDefaults = (providers: typeof PRESETS) => DemianConfig.parse({ providers }).providers;

interface Sent {
  url: string;
  headers: Headers;
  body: Record<string, unknown>;
}

/** The first request of a provider, answered as a stream. */
async function firstRequest(
  key: string,
  providers: DemianConfig["providers"],
  options: Partial<ResolveOptions> = {},
): Promise<Sent> {
  const sent: Sent[] = [];
  const fetch: typeof globalThis.fetch = (input, init) => {
    sent.push({
      url: String(input),
      headers: new Headers(init?.headers),
      body: JSON.parse(String(init?.body)),
    });
    const answer =
      key === "anthropic"
        ? 'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}\n\n'
        : sse(chunk({ content: "ok" }, "stop"));
    return Promise.resolve(new Response(answer, { headers: { "content-type": "text/event-stream" } }));
  };
  const resolved = resolveProvider(key, providers, { env: {}, model: "m", ...options, fetch });
  await listen(native(resolved).provider, askOf({ model: resolved.model }));
  expect(sent).toHaveLength(1);
  return sent[0] as Sent;
}

describe("the presets", () => {
  test("are valid configuration, fourteen of them", () => {
    for (const preset of Object.values(PRESETS))
      expect(ProviderConfig.safeParse(preset).error).toBeUndefined();
    expect(Object.keys(PRESETS)).toHaveLength(14);
  });

  test.each([
    [
      "openai",
      "https://api.openai.com/v1/chat/completions",
      "OPENAI_API_KEY",
      "authorization",
      `Bearer ${KEY}`,
    ],
    [
      "gemini",
      "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions",
      "GOOGLE_API_KEY",
      "authorization",
      `Bearer ${KEY}`,
    ],
    ["ollama", "http://localhost:11434/v1/chat/completions", "", "authorization", "Bearer placeholder"],
    ["lmstudio", "http://localhost:1234/v1/chat/completions", "", "authorization", "Bearer placeholder"],
    ["vllm", "http://localhost:8000/v1/chat/completions", "", "authorization", "Bearer placeholder"],
    ["llamacpp", "http://localhost:8080/v1/chat/completions", "", "authorization", "Bearer placeholder"],
    [
      "openrouter",
      "https://openrouter.ai/api/v1/chat/completions",
      "OPENROUTER_API_KEY",
      "authorization",
      `Bearer ${KEY}`,
    ],
    [
      "together",
      "https://api.together.xyz/v1/chat/completions",
      "TOGETHER_API_KEY",
      "authorization",
      `Bearer ${KEY}`,
    ],
    [
      "groq",
      "https://api.groq.com/openai/v1/chat/completions",
      "GROQ_API_KEY",
      "authorization",
      `Bearer ${KEY}`,
    ],
    ["azure", `${AZURE}/chat/completions`, "AZURE_OPENAI_API_KEY", "api-key", KEY],
    [
      "anthropic",
      "https://api.anthropic.com/v1/messages",
      "ANTHROPIC_API_KEY",
      "authorization",
      `Bearer ${KEY}`,
    ],
  ])("%s asks %s with the key of %s", async (key, url, variable, header, value) => {
    const preset = PRESETS[key] as ProviderConfig;
    const config = { [key]: key === "azure" ? ({ ...preset, baseURL: AZURE } as ProviderConfig) : preset };
    const sent = await firstRequest(key, config, { env: variable === "" ? {} : { [variable]: KEY } });
    expect(sent.url).toBe(url);
    expect(sent.headers.get(header)).toBe(value);
    expect(sent.body["model"]).toBe("m");
    if (variable === "") return;
    expect(() => resolveProvider(key, config, { env: {}, model: "m" })).toThrow(variable);
    expect(() => resolveProvider(key, config, { env: { [variable]: " " }, model: "m" })).toThrow(variable);
  });

  test("Azure's key goes into its own header at both kinds of hosts, unless the configuration says otherwise", async () => {
    const at = (baseURL: string, more: object = {}) => ({
      x: { type: "openai-compatible" as const, baseURL, apiKey: KEY, ...more },
    });
    const mine = await firstRequest("x", at("https://a.services.ai.azure.com/openai/v1"));
    expect([mine.headers.get("api-key"), mine.headers.get("authorization")]).toEqual([KEY, null]);
    const entra = await firstRequest("x", at(AZURE, { auth: { type: "bearer" } }));
    expect([entra.headers.get("api-key"), entra.headers.get("authorization")]).toEqual([
      null,
      `Bearer ${KEY}`,
    ]);
    const lookalike = await firstRequest("x", at("https://mine.openai.azure.com.evil.example/v1"));
    expect(lookalike.headers.get("api-key")).toBeNull();
  });
});

describe("an unknown vendor", () => {
  let server: ModelServer | undefined;
  afterEach(() => server?.close());

  test("works by an entry in the configuration alone", async () => {
    server = await startModelServer(
      chatReply("hello from the new vendor", [{ name: "read_file", input: { path: "a" } }]),
    );
    const { providers } = DemianConfig.parse({
      providers: {
        newcomer: {
          type: "openai-compatible",
          baseURL: `${server.url}/api/v9/`,
          apiKeyEnv: "NEWCOMER_KEY",
          auth: { type: "header", header: "X-Newcomer-Key" },
          headers: { "X-Region": "moon" },
          model: "luna-1",
          maxTokens: 99,
          quirks: { omitStreamOptions: true, maxCompletionTokens: true },
        },
      },
    });
    const { provider, model, maxTokens } = native(
      resolveProvider("newcomer", providers, { env: { NEWCOMER_KEY: KEY } }),
    );
    const { text, response } = await listen(
      provider,
      askOf({ model, ...(maxTokens === undefined ? {} : { maxTokens }) }),
    );
    expect(text).toBe("hello from the new vendor");
    expect(response.toolCalls).toMatchObject([{ name: "read_file", input: { path: "a" } }]);
    expect(server.requests[0]).toMatchObject({
      path: "/api/v9/chat/completions",
      headers: { "x-newcomer-key": KEY, "x-region": "moon" },
    });
    expect(server.requests[0]?.body).toEqual({
      model: "luna-1",
      messages: [{ role: "user", content: "hello" }],
      max_completion_tokens: 99,
      stream: true,
    });
  });
});

describe("what is missing is named, with what to set", () => {
  const at = (config: object) => ({ x: config as ProviderConfig });
  const remote = { type: "openai-compatible", baseURL: "https://api.example.com/v1" };

  test.each([
    ["an unknown key", { ...PRESETS }, "opnai", {}, "unknown_provider", /did you mean openai\?/],
    ["a name that every object has", {}, "constructor", {}, "unknown_provider", /no provider "constructor"/],
    [
      "azure without an endpoint",
      { ...PRESETS },
      "azure",
      { AZURE_OPENAI_API_KEY: KEY },
      "bad_base_url",
      /providers\.azure\.baseURL.*https:\/\/NAME\.openai\.azure\.com/,
    ],
    [
      "a model",
      at({ ...remote, apiKey: KEY }),
      "x",
      {},
      "missing_model",
      /set providers\.x\.model, or use --model/,
    ],
    [
      "a key that was never configured",
      at(remote),
      "x",
      {},
      "missing_key",
      /providers\.x\.apiKeyEnv.*auth\.type/,
    ],
    ["a variable", at({ ...remote, apiKeyEnv: "X_KEY" }), "x", {}, "missing_key", /set the variable X_KEY/],
    [
      "a key with a newline in it",
      at({ ...remote, apiKeyEnv: "X_KEY" }),
      "x",
      { X_KEY: "abc\ndef" },
      "bad_key",
      /the variable X_KEY contains characters/,
    ],
    [
      "the name of the header",
      at({ ...remote, apiKey: KEY, auth: { type: "header" } }),
      "x",
      {},
      "bad_auth",
      /set "header"/,
    ],
    [
      "a user in the URL",
      at({ ...remote, baseURL: "https://me:pw@example.com" }),
      "x",
      {},
      "bad_base_url",
      /user or password/,
    ],
    ["Anthropic's key", at({ type: "anthropic" }), "x", {}, "missing_key", /providers\.x\.apiKeyEnv/],
    [
      "a login of Codex",
      at({ ...CODEX, codexHome: "/nowhere/at/all" }),
      "x",
      {},
      "missing_login",
      /log in with `codex login`, set another directory in providers\.x\.codexHome/,
    ],
    [
      "Claude Code",
      at({ ...ClaudeCode.parse(PRESETS["claudecode"]), runtime: "cli", cliPath: "/nowhere/at/all" }),
      "x",
      {},
      "not_installed",
      /providers\.x\.cliPath: \/nowhere\/at\/all is not an executable file/,
    ],
    [
      "the imitated login",
      at({ type: "claudecode-api-legacy" }),
      "x",
      {},
      "provider_refused",
      /use the type claudecode,/,
    ],
  ])("%s", (_, providers, key, env, code, message) => {
    const act = () => resolveProvider(key, providers as DemianConfig["providers"], { env });
    expect(act).toThrow(message);
    expect(act).toThrow(expect.objectContaining({ code }));
  });

  test("no error names the key itself", () => {
    const act = () =>
      resolveProvider("x", at({ ...remote, apiKey: `${KEY}\u00fc` }), { env: {}, model: "m" });
    expect(act).toThrow(/^providers\.x\.apiKey contains/);
  });
});

test("a key in the configuration wins over the variable, and blanks around a key are no part of it", async () => {
  const config: ProviderConfig = {
    type: "openai-compatible",
    baseURL: "https://e.example/v1",
    apiKeyEnv: "X_KEY",
  };
  const fromEnv = await firstRequest("x", { x: config }, { env: { X_KEY: ` ${KEY}\n` } });
  expect(fromEnv.headers.get("authorization")).toBe(`Bearer ${KEY}`);
  const own = await firstRequest("x", { x: { ...config, apiKey: "mine" } }, { env: { X_KEY: KEY } });
  expect(own.headers.get("authorization")).toBe("Bearer mine");
});

test("the choices show which providers are ready, and what the others need", () => {
  const choices = listProviderChoices(
    {
      ...withDefaults(PRESETS),
      codex: { ...CODEX, codexHome: "/nowhere/at/all" },
      groq: { ...PRESETS["groq"], model: "llama" } as ProviderConfig,
    },
    { GROQ_API_KEY: KEY },
  );
  const byKey = new Map(choices.map((choice) => [choice.key, choice]));
  expect(byKey.get("groq")).toEqual({
    key: "groq",
    type: "openai-compatible",
    model: "llama",
    isReady: true,
  });
  expect(byKey.get("openai")).toMatchObject({
    isReady: false,
    problem: expect.stringMatching(/OPENAI_API_KEY/),
  });
  expect(byKey.get("ollama")).toMatchObject({
    model: "",
    isReady: false,
    problem: expect.stringMatching(/providers\.ollama\.model/),
  });
  expect(byKey.get("codex")).toMatchObject({
    isReady: false,
    problem: expect.stringMatching(/log in with `codex login`/),
  });
  expect(choices).toHaveLength(14);
});

test("settings of the model go along, and --model wins", () => {
  const config: ProviderConfig = {
    type: "anthropic",
    apiKey: KEY,
    model: "configured",
    maxTokens: 5,
    temperature: 0,
  };
  expect(resolveProvider("x", { x: config }, { env: {} })).toMatchObject({
    key: "x",
    type: "anthropic",
    model: "configured",
    maxTokens: 5,
    temperature: 0,
  });
  expect(resolveProvider("x", { x: config }, { env: {}, model: "flag" }).model).toBe("flag");
});

test.each(["http://127.0.0.1:4000", "http://localhost:4000/v1", "http://[::1]:4000", "http://0.0.0.0:4000"])(
  "a server on this machine (%s) needs no key, of neither kind; one elsewhere does",
  async (baseURL) => {
    const anthropic = await firstRequest("anthropic", { anthropic: { type: "anthropic", baseURL } });
    expect(anthropic.headers.get("authorization")).toBe("Bearer placeholder");
    const other = await firstRequest("x", { x: { type: "openai-compatible", baseURL } });
    expect(other.headers.get("authorization")).toBe("Bearer placeholder");
    const elsewhere = baseURL.replace(/\/\/[^/]+/, "//127.0.0.1.example.com");
    const config: ProviderConfig = { type: "openai-compatible", baseURL: elsewhere };
    expect(() => resolveProvider("x", { x: config }, { env: {}, model: "m" })).toThrow(/has no key/);
  },
);
