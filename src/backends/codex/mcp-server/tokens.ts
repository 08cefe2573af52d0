// A `token_count` event: the tokens of the turn, or account usage.

import { isObject, type JsonObject } from "../../../base/json.ts";
import { asCount, omitNulls } from "../../../base/values.ts";
import type { Usage } from "../../../protocol/usage.ts";
import { toMs } from "./fields.ts";

/** Codex's name → ours. Its total is the sum of the others and not copied. */
const USAGE = {
  input_tokens: "input_tokens",
  output_tokens: "output_tokens",
  cached_input_tokens: "cache_read_input_tokens",
  reasoning_output_tokens: "reasoning_output_tokens",
} as const;

export function readUsage(counts: unknown): Usage | undefined {
  if (!isObject(counts)) return undefined;
  const usage: Usage = {};
  for (const [theirs, ours] of Object.entries(USAGE)) {
    const count = asCount(counts[theirs]);
    if (count !== undefined) usage[ours] = count;
  }
  return usage;
}

/** The `data` of a `rate_limits` notice. */
export function rateLimits(limits: unknown): JsonObject | undefined {
  if (!isObject(limits)) return undefined;
  const { primary, secondary, ...vendor } = limits;
  return omitNulls({
    limit: readLimit(primary),
    secondary_limit: readLimit(secondary),
    vendor: Object.keys(vendor).length === 0 ? undefined : vendor,
  });
}

function readLimit(limit: unknown): JsonObject | undefined {
  if (!isObject(limit)) return undefined;
  return omitNulls({
    resets_at_ms: toMs(limit["resets_at"]),
    used_percent: limit["used_percent"],
    window_minutes: limit["window_minutes"],
  });
}
