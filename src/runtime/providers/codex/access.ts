// With what requests are made: the login of Codex and what its backend wants to know, or a key where that is allowed.
import { CodedError } from "../../../base/coded-error.ts";
import { secretsOf } from "../credentials.ts";
import { isLoopback, type Place } from "../failure.ts";
import type { CodexConfig, ProviderContext } from "../registry-types.ts";
import { ProviderError } from "../types.ts";
import { type Login, type Stored, secretsIn } from "./auth-json.ts";
import { authFile, peekAuthFile } from "./auth-store.ts";
import type { Keyring } from "./keyring.ts";
import { ADVICE } from "./refresh.ts";

export interface Access {
  place: Place;
  headers: Readonly<Record<string, string>>;
  /** Undefined: it is a key. */
  login?: Login;
  installationId?: string;
}

export interface AccessOrder {
  config: CodexConfig;
  context: Pick<ProviderContext, "key" | "model" | "env">;
  codexHome: string;
  keyring: Keyring | undefined;
}

const COMMON = { "content-type": "application/json", accept: "text/event-stream", "user-agent": "demian" };

/** A look at what is there, without asking anybody. Throws `CodedError`: what to do first. */
export function requireAccess(order: AccessOrder): void {
  const { config, context, codexHome, keyring } = order;
  endpointOf(context.key, "baseURL", config.baseURL);
  endpointOf(context.key, "apiKeyBaseURL", config.apiKeyBaseURL);
  checkedUrl(context.key, "refresh.url", config.refresh.url);
  if (config.authStore === "keyring" && keyring === undefined) {
    const text = `providers.${context.key}.authStore is "keyring", and no keyring can be read on this system; use "auto" or "file"`;
    throw new CodedError("missing_login", text);
  }
  const stored = config.authStore === "keyring" ? undefined : peekAuthFile(codexHome);
  if (stored !== undefined && "login" in stored) return;
  // Only asking would tell, and that may ask a person.
  if (config.authStore !== "file" && keyring !== undefined) return;
  if (keyOf(order, stored) !== undefined) return;
  throw new CodedError("missing_login", whyNone(order, stored));
}

/** Rejects with `ProviderError`. */
export async function toAccess(
  order: AccessOrder,
  stored: Stored | undefined,
  installation: () => Promise<string>,
): Promise<Access> {
  if (stored !== undefined && "login" in stored) {
    return loginAccess(order, stored.login, await installation());
  }
  const found = keyOf(order, stored);
  if (found === undefined) throw new ProviderError({ kind: "auth", message: whyNone(order, stored) });
  const { config, context } = order;
  const { key, model } = context;
  const url = endpointOf(key, "apiKeyBaseURL", config.apiKeyBaseURL);
  return {
    place: { key, model, url, ...found.from, secrets: secretsOf(found.apiKey) },
    headers: { ...COMMON, authorization: `Bearer ${found.apiKey}` },
  };
}

export function loginAccess({ config, context }: AccessOrder, login: Login, installationId: string): Access {
  const { key, model } = context;
  const url = endpointOf(key, "baseURL", config.baseURL);
  return {
    place: { key, model, url, authAdvice: ADVICE, secrets: secretsOf(...secretsIn(login)) },
    headers: {
      ...COMMON,
      authorization: `Bearer ${login.accessToken}`,
      ...(login.accountId === undefined ? {} : { "ChatGPT-Account-ID": login.accountId }),
      ...(login.isFedramp ? { "X-OpenAI-Fedramp": "true" } : {}),
      "x-codex-installation-id": installationId,
      originator: "demian",
    },
    login,
    installationId,
  };
}

/** Undefined: there is none, or it may not be used. */
function keyOf(
  { config, context: { env } }: AccessOrder,
  stored: Stored | undefined,
): { apiKey: string; from: { keyEnv?: string } } | undefined {
  if (!config.allowApiKeyFallback) return undefined;
  const value = env[config.apiKeyEnv]?.trim() ?? "";
  if (/^[\x21-\x7e]+$/.test(value)) return { apiKey: value, from: { keyEnv: config.apiKeyEnv } };
  return stored !== undefined && "apiKey" in stored ? { apiKey: stored.apiKey, from: {} } : undefined;
}

function whyNone({ config, context: { key }, codexHome }: AccessOrder, stored: Stored | undefined): string {
  const fallback = `providers.${key}.allowApiKeyFallback`;
  if (stored !== undefined && "apiKey" in stored) {
    return `the provider ${key} has no login: ${authFile(codexHome)} holds an API key, which is billed by the request and not by a plan; log in with \`codex login\`, or set ${fallback} to true to use the key`;
  }
  const instead = config.allowApiKeyFallback
    ? `set the variable ${config.apiKeyEnv}`
    : `set ${fallback} to true to use the key in ${config.apiKeyEnv}, which is billed by the request`;
  return `the provider ${key} has no login (none in ${codexHome}): log in with \`codex login\`, or name another place in providers.${key}.codexHome, or ${instead}`;
}

function endpointOf(key: string, field: string, baseURL: string): string {
  const url = checkedUrl(key, field, baseURL);
  const path = url.pathname.replace(/\/+$/, "");
  url.pathname = path.endsWith("/responses") ? path : `${path}/responses`;
  url.hash = "";
  return url.href;
}

/** A login must not go over the wire for everybody to read. */
function checkedUrl(key: string, field: string, text: string): URL {
  const refuse = (why: string) => new CodedError("bad_base_url", `providers.${key}.${field} ${why}`);
  if (!URL.canParse(text)) throw refuse("is no URL; it begins with https://");
  const url = new URL(text);
  if (url.username !== "" || url.password !== "") throw refuse("holds a user or password");
  if (url.protocol === "https:" || (url.protocol === "http:" && isLoopback(text))) return url;
  throw refuse("must begin with https://, because the login goes there");
}
