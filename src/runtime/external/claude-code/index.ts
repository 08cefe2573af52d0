// Claude Code as an agent of its own, selected like a provider.
import { CodedError } from "../../../base/coded-error.ts";
import type { ClaudeCodeConfig, ProviderContext } from "../../providers/registry-types.ts";
import type { ExternalRuntime } from "../types.ts";

/** Throws `CodedError` where something has to be set first. Nothing is loaded and nothing is started yet. */
export function createClaudeCode(_config: ClaudeCodeConfig, { key }: ProviderContext): ExternalRuntime {
  throw new CodedError("provider_not_available", `the provider ${key} is not available yet`);
}
