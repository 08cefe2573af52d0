// The key of a provider: from its configuration or from the environment, or a placeholder where nobody looks at it.
import { CodedError } from "../../base/coded-error.ts";
import { isLoopback } from "./failure.ts";
import type { ProviderContext } from "./registry-types.ts";

/** Local servers want some key, and do not look at it. It is no secret. */
const PLACEHOLDER_KEY = "placeholder";
/** What HTTP headers can carry, and what every key is made of. */
const SENDABLE = /^[\x21-\x7e]+$/;
const MIN_SECRET_CHARS = 8;

export interface KeyFields {
  apiKey?: string | undefined;
  apiKeyEnv?: string | undefined;
}

/** A key in the configuration is more exact than the variable of a preset. Throws `CodedError`. */
export function requireKey(
  fields: KeyFields,
  { key, env }: Pick<ProviderContext, "key" | "env">,
  { url, instead = "" }: { url: string; instead?: string },
): string {
  const { apiKey, apiKeyEnv } = fields;
  if (apiKey !== undefined && apiKey.trim() !== "") return checked(apiKey, `providers.${key}.apiKey`);
  if (apiKeyEnv !== undefined && apiKeyEnv !== "") {
    const value = env[apiKeyEnv] ?? "";
    if (value.trim() !== "") return checked(value, `the variable ${apiKeyEnv}`);
    const hint = `set the variable ${apiKeyEnv}, or name another one in providers.${key}.apiKeyEnv`;
    throw new CodedError("missing_key", `the provider ${key} needs a key: ${hint}`);
  }
  if (isLoopback(url)) return PLACEHOLDER_KEY;
  const hint = `name a variable in providers.${key}.apiKeyEnv${instead}`;
  throw new CodedError("missing_key", `the provider ${key} has no key: ${hint}`);
}

/** The variable that the key comes from, for failures. */
export function keyEnvOf({ apiKey, apiKeyEnv }: KeyFields): { keyEnv?: string } {
  return apiKey === undefined && apiKeyEnv ? { keyEnv: apiKeyEnv } : {};
}

/** Which of these must never be shown. */
export function secretsOf(...values: readonly string[]): string[] {
  return values.filter((value) => value.length >= MIN_SECRET_CHARS && value !== PLACEHOLDER_KEY);
}

function checked(key: string, where: string): string {
  const trimmed = key.trim();
  if (SENDABLE.test(trimmed)) return trimmed;
  throw new CodedError(
    "bad_key",
    `${where} holds characters that no key has (blanks, quotes of a word processor?)`,
  );
}
