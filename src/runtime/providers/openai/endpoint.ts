// Where an OpenAI-compatible provider is, and how it knows us: one path for all vendors, one header that differs.
import { CodedError } from "../../../base/coded-error.ts";

import { keyEnvOf, requireKey, secretsOf } from "../credentials.ts";
import type { Place } from "../failure.ts";
import { AZURE_PLACEHOLDER_HOST } from "../presets.ts";
import type { OpenAIConfig, ProviderContext } from "../registry-types.ts";

const AZURE_HOSTS = [".openai.azure.com", ".services.ai.azure.com"];

export interface Endpoint {
  place: Place;
  headers: Readonly<Record<string, string>>;
}

/** Throws `CodedError` with what to set. */
export function openaiEndpoint(config: OpenAIConfig, context: ProviderContext): Endpoint {
  const { key, model } = context;
  const url = chatUrl(key, config.baseURL);
  const isAzure = AZURE_HOSTS.some((end) => url.hostname.endsWith(end));
  const auth = config.auth ?? { type: isAzure ? "api-key" : "bearer" };
  const own = config.headers ?? {};
  const headers: Record<string, string> = { "content-type": "application/json", "user-agent": "demian" };
  const secrets = Object.values(own);
  if (auth.type !== "none") {
    const instead = ', or set auth.type to "none" where it needs none';
    const apiKey = requireKey(config, context, { url: url.href, instead });
    Object.assign(headers, authHeader(key, auth, apiKey));
    secrets.push(apiKey);
  }
  for (const [name, value] of Object.entries(own)) headers[name.toLowerCase()] = value;
  const place = { key, url: url.href, model, ...keyEnvOf(config), secrets: secretsOf(...secrets) };
  return { place, headers };
}

function chatUrl(key: string, baseURL: string): URL {
  const refuse = (why: string) => new CodedError("bad_base_url", `providers.${key}.baseURL ${why}`);
  if (!URL.canParse(baseURL)) throw refuse("is no URL; it begins with https:// or http://");
  const url = new URL(baseURL);
  if (url.protocol !== "https:" && url.protocol !== "http:")
    throw refuse("must begin with https:// or http://");
  if (url.username !== "" || url.password !== "") {
    throw refuse("holds a user or password; name a variable in apiKeyEnv instead");
  }
  if (url.hostname === AZURE_PLACEHOLDER_HOST) {
    throw refuse("is not set: write the endpoint of your resource, https://NAME.openai.azure.com/openai/v1");
  }
  const path = url.pathname.replace(/\/+$/, "");
  url.pathname = path.endsWith("/chat/completions") ? path : `${path}/chat/completions`;
  url.hash = "";
  return url;
}

function authHeader(
  key: string,
  auth: NonNullable<OpenAIConfig["auth"]>,
  apiKey: string,
): Record<string, string> {
  if (auth.type === "bearer") return { authorization: `Bearer ${apiKey}` };
  if (auth.type === "api-key") return { "api-key": apiKey };
  if (auth.header !== undefined) return { [auth.header.toLowerCase()]: apiKey };
  throw new CodedError(
    "bad_auth",
    `providers.${key}.auth: set "header" to the name of the header that takes the key`,
  );
}
