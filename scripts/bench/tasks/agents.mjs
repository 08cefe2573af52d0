// How each agent is run without a screen, with the scripted model and a home of its own.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { codexConfigToml } from "../../../test/tools/mock-responses.mjs";
import { GROUPS } from "../../e2e-agents.mjs";
import { findAgent } from "../real-agents.mjs";

/**
 * @typedef {"chat" | "anthropic" | "responses"} Protocol
 * @typedef {{ name: string, protocol: Protocol, program: string | undefined, first?: string[],
 *   args: (prompt: string) => string[], furnish: (home: string, url: string) => Record<string, string> }} Agent
 */

const ROOT = join(import.meta.dirname, "../../..");
/** Names that the vendors' own models have: some agents choose their prompt by it. */
const MODELS = { chat: "coder-large", anthropic: "claude-sonnet-4-5", responses: "gpt-5.5" };
const PROTOCOLS = /** @type {Protocol[]} */ (Object.keys(MODELS));

/** @param {string} demian the demian.js to run @returns {Agent[]} */
export function listAgents(demian) {
  return [
    ...PROTOCOLS.map((protocol) => demianAgent(demian, protocol)),
    ...PROTOCOLS.map(opencodeAgent),
    {
      name: "codex",
      protocol: "responses",
      program: findAgent("codex"),
      args: (prompt) => [
        "exec",
        "--skip-git-repo-check",
        "--dangerously-bypass-approvals-and-sandbox",
        prompt,
      ],
      furnish(home, url) {
        writeFileSync(join(home, "config.toml"), codexConfigToml(`${url}/v1`));
        return { CODEX_HOME: home, MOCK_KEY: "sk-mock" };
      },
    },
  ];
}

/** @param {string} demian @param {Protocol} protocol @returns {Agent} */
function demianAgent(demian, protocol) {
  const model = MODELS[protocol];
  return {
    name: "demian",
    protocol,
    program: process.execPath,
    first: [demian],
    args: (prompt) => ["--yes", "--quiet", "--prompt", prompt],
    furnish(home, url) {
      const providers = {
        chat: { type: "openai-compatible", baseURL: `${url}/v1`, model },
        anthropic: { type: "anthropic", baseURL: url, apiKey: "sk-mock", model },
        responses: {
          ...{ type: "codex", authStore: "file", allowApiKeyFallback: true, apiKeyEnv: "MOCK_KEY" },
          ...{ apiKeyBaseURL: `${url}/v1`, model },
        },
      };
      writeJson(join(home, ".demian/config.json"), {
        defaultProvider: "mock",
        providers: { mock: providers[protocol] },
      });
      return { MOCK_KEY: "sk-mock-mock", XDG_STATE_HOME: join(home, "state") };
    },
  };
}

/** @param {Protocol} protocol @returns {Agent} */
function opencodeAgent(protocol) {
  const model = MODELS[protocol];
  const npm = {
    chat: "@ai-sdk/openai-compatible",
    anthropic: "@ai-sdk/anthropic",
    responses: "@ai-sdk/openai",
  };
  return {
    name: "opencode",
    protocol,
    program: findOpencode(),
    args: (prompt) => ["run", "--model", `mock/${model}`, prompt],
    furnish(home, url) {
      const models = { [model]: { name: model, limit: { context: 200_000, output: 32_000 } } };
      const options = { baseURL: `${url}/v1`, apiKey: "sk-mock" };
      writeJson(join(home, "config/opencode/opencode.json"), {
        provider: { mock: { npm: npm[protocol], options, models } },
        model: `mock/${model}`,
        small_model: `mock/${model}`,
        enabled_providers: ["mock"],
        permission: { bash: "allow", edit: "allow" },
        autoupdate: false,
        share: "disabled",
      });
      return {
        XDG_CONFIG_HOME: join(home, "config"),
        XDG_DATA_HOME: join(home, "data"),
        XDG_CACHE_HOME: join(home, "cache"),
        XDG_STATE_HOME: join(home, "state"),
        OPENCODE_DISABLE_AUTOUPDATE: "1",
        OPENCODE_DISABLE_MODELS_FETCH: "1",
        OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
        OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
        // It installs its own package beside its settings: give it a registry that does not answer.
        npm_config_registry: "http://127.0.0.1:9/",
      };
    },
  };
}

function findOpencode() {
  const group = GROUPS.find(({ agents }) => agents.some(({ name }) => name === "opencode"));
  const programs = group?.agents.find(({ name }) => name === "opencode")?.programs ?? [];
  return programs
    .map((program) => join(ROOT, group?.directory ?? "", "node_modules", program))
    .find((path) => existsSync(path));
}

/** @param {string} path @param {object} value */
function writeJson(path, value) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify(value, null, 2));
}
