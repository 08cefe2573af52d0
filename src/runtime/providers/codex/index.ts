// The provider that uses the login of the Codex CLI, by the Responses API.
import { CodedError } from "../../../base/coded-error.ts";
import type { CodexConfig, ProviderContext } from "../registry-types.ts";
import type { Provider } from "../types.ts";

/** Throws `CodedError` where something has to be set first. */
export function createCodexProvider(_config: CodexConfig, { key }: ProviderContext): Provider {
  throw new CodedError("provider_not_available", `the provider ${key} is not available yet`);
}
