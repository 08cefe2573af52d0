// A provider's API key, from the configuration or the environment; a placeholder for local servers.
import { CodedError } from "../../base/coded-error.ts";
import { isLoopback } from "./failure.ts";
import type { ProviderContext } from "./registry-types.ts";

/** Local servers require a key and ignore its value. */
const PLACEHOLDER_KEY = "placeholder";
/** Characters allowed in a header; no key has others. */
const SENDABLE = /^[\x21-\x7e]+$/;
const MIN_SECRET_CHARS = 8;

export interface KeyFields {
  apiKey?: string | undefined;
  apiKeyEnv?: string | undefined;
}

/** A configured key takes precedence over a preset's variable. Throws `CodedError`. */
export function requireKey(
  fields: KeyFields,
  { key, env }: Pick<ProviderContext, "key" | "env">,
  { url, instead = "" }: { url: string; instead?: string },
): string {
  const { apiKey, apiKeyEnv } = fields;
  if (apiKey !== undefined && apiKey.trim() !== "") return checkKey(apiKey, `providers.${key}.apiKey`);
  if (apiKeyEnv !== undefined && apiKeyEnv !== "") {
    const value = env[apiKeyEnv] ?? "";
    if (value.trim() !== "") return checkKey(value, `the variable ${apiKeyEnv}`);
    const hint = `set the variable ${apiKeyEnv}, or name another in providers.${key}.apiKeyEnv`;
    throw new CodedError("missing_key", `the provider ${key} needs a key: ${hint}`);
  }
  if (isLoopback(url)) return PLACEHOLDER_KEY;
  const hint = `name a variable in providers.${key}.apiKeyEnv${instead}`;
  throw new CodedError("missing_key", `the provider ${key} has no key: ${hint}`);
}

/** The variable that holds the key, for error messages. */
export function getKeyEnv({ apiKey, apiKeyEnv }: KeyFields): { keyEnv?: string } {
  return apiKey === undefined && apiKeyEnv ? { keyEnv: apiKeyEnv } : {};
}

/** Keeps the values that must be redacted. */
export function filterSecrets(...values: readonly string[]): string[] {
  return values.filter((value) => value.length >= MIN_SECRET_CHARS && value !== PLACEHOLDER_KEY);
}

function checkKey(key: string, where: string): string {
  const trimmed = key.trim();
  if (SENDABLE.test(trimmed)) return trimmed;
  throw new CodedError(
    "bad_key",
    `${where} contains characters that are not valid in a key (spaces or curly quotes?)`,
  );
}
