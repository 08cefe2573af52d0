// Third-party agents, each in its own environment: listed under `[agents.NAME]` of the daemon's config file, with a
// home and a scripted model.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "smol-toml";
import { type MockChat, startMockChat } from "../../tools/mock-chat.mjs";
import { type MockGemini, startMockGemini } from "../../tools/mock-gemini.mjs";
import { codexConfigToml, type MockResponses, startMockResponses } from "../../tools/mock-responses.mjs";
import { createWorld, type World } from "../world.ts";

/** The keys of `[agents.NAME]`. */
export interface Entry {
  command: string;
  args?: string[];
  env?: Record<string, string>;
  process?: "shared";
}

export async function openOpencode(): Promise<World<MockChat>> {
  const model = await startMockChat();
  return openWorld("opencode", model, (home) => furnishOpencode(home, model.url));
}

/** Writes its settings below the home. */
export function furnishOpencode(home: string, url: string): Entry {
  const models = { "mock-model": { name: "Mock", limit: { context: 100_000, output: 4096 } } };
  writeJson(join(home, "config/opencode/opencode.json"), {
    provider: {
      mock: { npm: "@ai-sdk/openai-compatible", options: { baseURL: url, apiKey: "sk-mock" }, models },
    },
    model: "mock/mock-model",
    small_model: "mock/mock-model",
    enabled_providers: ["mock"],
    // Without it nothing is asked.
    permission: { bash: "ask", edit: "ask" },
    autoupdate: false,
    share: "disabled",
  });
  const env = {
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
    // It installs its own package beside its settings, and this cannot be disabled: give it a registry that does not
    // answer.
    npm_config_registry: "http://127.0.0.1:9/",
  };
  return { command: program("E2E_OPENCODE"), args: ["acp"], env };
}

export async function openGemini(): Promise<World<MockGemini>> {
  const model = await startMockGemini();
  return openWorld("gemini", model, (home) => {
    writeJson(join(home, ".gemini/settings.json"), {
      security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
      general: { enableAutoUpdate: false, sessionRetention: { enabled: false } },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
    });
    const env = { GEMINI_API_KEY: "mock", GOOGLE_GEMINI_BASE_URL: model.url };
    const args = ["--acp", "--skip-trust", "-m", "gemini-2.5-flash"];
    return { command: program("E2E_GEMINI"), args, env };
  });
}

export async function openCodexAcp(): Promise<World<MockResponses>> {
  const model = await startMockResponses();
  return openWorld("codex-acp", model, (home) => {
    const codexHome = join(home, "codex");
    mkdirSync(codexHome);
    writeFileSync(join(codexHome, "config.toml"), codexConfigToml(model.url));
    const env = {
      CODEX_HOME: codexHome,
      MOCK_KEY: "sk-mock",
      NO_BROWSER: "1",
      // In its default mode a model decides. In "workspace-write" it changes files in the project and in /tmp without
      // asking.
      INITIAL_AGENT_MODE: "read-only",
    };
    return { command: program("E2E_CODEX_ACP"), env };
  });
}

function openWorld<M extends { close(): Promise<void> }>(
  backend: string,
  model: M,
  entryOf: (home: string) => Entry,
): Promise<World<M>> {
  return createWorld({
    backend,
    model,
    // gemini waits for the next minute before it resumes.
    resumeMs: 90_000,
    furnish(home, cwd) {
      listAgents(home, { [backend]: entryOf(home) });
      return { env: {}, options: { cwd } };
    },
  });
}

/** Writes them into the daemon's config file. */
export function listAgents(home: string, agents: Record<string, Entry>): void {
  const file = join(home, "config/blemeesd/config.toml");
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, stringify({ agents }));
}

function program(variable: string): string {
  const found = process.env[variable];
  if (found === undefined) throw new Error(`${variable} is not set: run \`npm run test:e2e\``);
  return found;
}

function writeJson(path: string, value: object): void {
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, JSON.stringify(value, null, 2));
}
