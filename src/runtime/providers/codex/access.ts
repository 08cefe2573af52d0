// URL and headers for requests with the Codex login, or with an API key if that is allowed.

import { CodedError } from "../../../base/coded-error.ts";
import { defined } from "../../../base/values.ts";
import { parseBaseUrl, withPath } from "../base-url.ts";
import { filterSecrets } from "../credentials.ts";
import type { Endpoint } from "../failure.ts";
import type { CodexConfig, ProviderContext } from "../registry-types.ts";
import { ProviderError } from "../types.ts";
import { type Login, listSecrets, type Stored } from "./auth-json.ts";
import { getAuthFile, peekAuthFile } from "./auth-store.ts";
import type { Keyring } from "./keyring.ts";
import { ADVICE } from "./refresh.ts";

export interface Access {
  endpoint: Endpoint;
  headers: Readonly<Record<string, string>>;
  /** Absent with an API key. */
  login?: Login;
  installationId?: string;
}

export interface AccessOptions {
  config: CodexConfig;
  context: Pick<ProviderContext, "key" | "model" | "env">;
  codexHome: string;
  keyring: Keyring | undefined;
}

const COMMON = { "content-type": "application/json", accept: "text/event-stream", "user-agent": "demian" };

/** Checks for a login without reading the keyring. Throws `CodedError` with what to do first. */
export function requireAccess(options: AccessOptions): void {
  const { config, context, codexHome, keyring } = options;
  toEndpointUrl(context.key, "baseURL", config.baseURL);
  toEndpointUrl(context.key, "apiKeyBaseURL", config.apiKeyBaseURL);
  parseBaseUrl(`providers.${context.key}.refresh.url`, config.refresh.url, { needsHttps: true });
  if (config.authStore === "keyring" && keyring === undefined) {
    const text = `providers.${context.key}.authStore is "keyring", but this system has no supported keyring; use "auto" or "file"`;
    throw new CodedError("missing_login", text);
  }
  const stored = config.authStore === "keyring" ? undefined : peekAuthFile(codexHome);
  if (stored !== undefined && "login" in stored) return;
  // Reading the keyring may prompt the user.
  if (config.authStore !== "file" && keyring !== undefined) return;
  if (findKey(options, stored) !== undefined) return;
  throw new CodedError("missing_login", explainMissingLogin(options, stored));
}

/** Rejects with `ProviderError`. */
export async function resolveAccess(
  options: AccessOptions,
  stored: Stored | undefined,
  installation: () => Promise<string>,
): Promise<Access> {
  if (stored !== undefined && "login" in stored) {
    return createLoginAccess(options, stored.login, await installation());
  }
  const found = findKey(options, stored);
  if (found === undefined)
    throw new ProviderError({ kind: "auth", message: explainMissingLogin(options, stored) });
  const { config, context } = options;
  const { key, model } = context;
  const url = toEndpointUrl(key, "apiKeyBaseURL", config.apiKeyBaseURL);
  return {
    endpoint: { key, model, url, ...found.from, secrets: filterSecrets(found.apiKey) },
    headers: { ...COMMON, authorization: `Bearer ${found.apiKey}` },
  };
}

export function createLoginAccess(
  { config, context }: AccessOptions,
  login: Login,
  installationId: string,
): Access {
  const { key, model } = context;
  const url = toEndpointUrl(key, "baseURL", config.baseURL);
  return {
    endpoint: { key, model, url, authAdvice: ADVICE, secrets: filterSecrets(...listSecrets(login)) },
    headers: {
      ...COMMON,
      authorization: `Bearer ${login.accessToken}`,
      ...defined({ "ChatGPT-Account-ID": login.accountId }),
      ...(login.isFedramp ? { "X-OpenAI-Fedramp": "true" } : {}),
      "x-codex-installation-id": installationId,
      originator: "demian",
    },
    login,
    installationId,
  };
}

/** Finds an API key that may be used. */
function findKey(
  { config, context: { env } }: AccessOptions,
  stored: Stored | undefined,
): { apiKey: string; from: { keyEnv?: string } } | undefined {
  if (!config.allowApiKeyFallback) return undefined;
  const value = env[config.apiKeyEnv]?.trim() ?? "";
  if (/^[\x21-\x7e]+$/.test(value)) return { apiKey: value, from: { keyEnv: config.apiKeyEnv } };
  return stored !== undefined && "apiKey" in stored ? { apiKey: stored.apiKey, from: {} } : undefined;
}

function explainMissingLogin(
  { config, context: { key }, codexHome }: AccessOptions,
  stored: Stored | undefined,
): string {
  const fallback = `providers.${key}.allowApiKeyFallback`;
  if (stored !== undefined && "apiKey" in stored) {
    return `the provider ${key} has no login: ${getAuthFile(codexHome)} contains an API key, which is billed per request instead of by plan; log in with \`codex login\`, or set ${fallback} to true to use the key`;
  }
  const instead = config.allowApiKeyFallback
    ? `set the variable ${config.apiKeyEnv}`
    : `set ${fallback} to true to use the key in ${config.apiKeyEnv}, which is billed per request`;
  return `the provider ${key} has no login (none in ${codexHome}): log in with \`codex login\`, set another directory in providers.${key}.codexHome, or ${instead}`;
}

function toEndpointUrl(key: string, field: "baseURL" | "apiKeyBaseURL", baseURL: string): string {
  const base = parseBaseUrl(`providers.${key}.${field}`, baseURL, { needsHttps: true });
  return withPath(base, "/responses").href;
}
