// Configuration from environment variables, as a layer.
import { CodedError } from "../../base/coded-error.ts";
import { isObject, type JsonObject } from "../../base/json.ts";
import type { Env } from "../state-dir.ts";

/** The setting of each variable. All are numbers. */
export const CONFIG_VARIABLES: Readonly<Record<string, readonly [string, string, string]>> = {
  DEMIAN_MAIN_MAX_CONTEXT_TOKENS: ["context", "main", "maxContextTokens"],
  DEMIAN_MAIN_COMPACT_AT_RATIO: ["context", "main", "compactAtRatio"],
  DEMIAN_MAIN_SUMMARY_TARGET_TOKENS: ["context", "main", "summaryTargetTokens"],
  DEMIAN_MAIN_KEEP_RAW_DELEGATE_RESULTS: ["context", "main", "keepRawDelegateResults"],
  DEMIAN_MAIN_MAX_DELEGATE_RESULT_TOKENS: ["context", "main", "maxDelegateResultTokens"],
  DEMIAN_SUB_MAX_CONTEXT_TOKENS: ["context", "subAgent", "maxContextTokens"],
  DEMIAN_SUB_COMPACT_AT_RATIO: ["context", "subAgent", "compactAtRatio"],
  DEMIAN_SUB_SUMMARY_TARGET_TOKENS: ["context", "subAgent", "summaryTargetTokens"],
  DEMIAN_SUB_RECENT_TURNS: ["context", "subAgent", "recentTurns"],
  DEMIAN_SUB_MAX_HANDOFF_TOKENS: ["context", "subAgent", "maxHandoffTokens"],
  DEMIAN_SUB_MAX_DELEGATE_CONTEXT_TOKENS: ["context", "subAgent", "maxDelegateContextTokens"],
  DEMIAN_SUB_MAX_RESULT_TOKENS_TO_MAIN: ["context", "subAgent", "maxResultTokensToMain"],
};

export interface VariableLayer {
  variable: string;
  value: JsonObject;
}

/** One layer per variable, so that an error names it. An empty variable counts as unset. */
export function readEnvironmentLayers(env: Env): VariableLayer[] {
  return Object.entries(CONFIG_VARIABLES).flatMap(([variable, path]) => {
    const text = env[variable]?.trim() ?? "";
    return text === "" ? [] : [{ variable, value: nestValue(path, parseNumber(variable, text)) }];
  });
}

function parseNumber(variable: string, text: string): number {
  const number = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isFinite(number)) return number;
  throw new CodedError("config_invalid", `${variable}: expected a number, not "${text}"`);
}

function nestValue(path: readonly string[], value: unknown): JsonObject {
  const built = path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
  return isObject(built) ? built : {};
}
