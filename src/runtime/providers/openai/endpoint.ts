// URL and headers of an OpenAI-compatible provider: one path for all vendors, and one authentication header that differs.
import { CodedError } from "../../../base/coded-error.ts";
import { parseBaseUrl, withPath } from "../base-url.ts";
import { filterSecrets, getKeyEnv, requireKey } from "../credentials.ts";
import type { Endpoint } from "../failure.ts";
import { AZURE_PLACEHOLDER_HOST } from "../presets.ts";
import type { OpenAIConfig, ProviderContext } from "../registry-types.ts";

const AZURE_HOSTS = [".openai.azure.com", ".services.ai.azure.com"];

export interface OpenAIEndpoint {
  endpoint: Endpoint;
  headers: Readonly<Record<string, string>>;
}

/** Throws `CodedError` if the configuration is incomplete. */
export function resolveEndpoint(config: OpenAIConfig, context: ProviderContext): OpenAIEndpoint {
  const { key, model } = context;
  const url = toChatUrl(key, config.baseURL);
  const isAzure = AZURE_HOSTS.some((end) => url.hostname.endsWith(end));
  const auth = config.auth ?? { type: isAzure ? "api-key" : "bearer" };
  const own = config.headers ?? {};
  const headers: Record<string, string> = { "content-type": "application/json", "user-agent": "demian" };
  const secrets = Object.values(own);
  if (auth.type !== "none") {
    const instead = ', or set auth.type to "none" if it needs no key';
    const apiKey = requireKey(config, context, { url: url.href, instead });
    Object.assign(headers, buildAuthHeader(key, auth, apiKey));
    secrets.push(apiKey);
  }
  for (const [name, value] of Object.entries(own)) headers[name.toLowerCase()] = value;
  const endpoint = { key, url: url.href, model, ...getKeyEnv(config), secrets: filterSecrets(...secrets) };
  return { endpoint, headers };
}

function toChatUrl(key: string, baseURL: string): URL {
  const field = `providers.${key}.baseURL`;
  const url = parseBaseUrl(field, baseURL);
  if (url.hostname === AZURE_PLACEHOLDER_HOST) {
    const text = `${field} is not set; use your resource's endpoint, https://NAME.openai.azure.com/openai/v1`;
    throw new CodedError("bad_base_url", text);
  }
  return withPath(url, "/chat/completions");
}

function buildAuthHeader(
  key: string,
  auth: NonNullable<OpenAIConfig["auth"]>,
  apiKey: string,
): Record<string, string> {
  if (auth.type === "bearer") return { authorization: `Bearer ${apiKey}` };
  if (auth.type === "api-key") return { "api-key": apiKey };
  if (auth.header !== undefined) return { [auth.header.toLowerCase()]: apiKey };
  throw new CodedError(
    "bad_auth",
    `providers.${key}.auth: set "header" to the name of the header for the key`,
  );
}
