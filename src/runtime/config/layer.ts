// Configuration layers before validation: renames older keys, and merges a stronger layer over a weaker one.
import { isObject, type JsonObject } from "../../base/json.ts";

/** Rules and hooks of all layers apply: no layer silently removes what another one forbids. */
const APPENDED = new Set(["permissions", "hooks"]);
const OLDER_CONTEXT: Readonly<Record<string, string>> = {
  maxInputTokens: "maxContextTokens",
  compressAtRatio: "compactAtRatio",
};

/** The same layer with current key names. A current name wins over an older one. */
export function modernize(layer: JsonObject): JsonObject {
  const { $schema: _, mode, multiAgent, ...rest } = layer;
  const agentMode = rest["agentMode"] ?? mode ?? toAgentMode(multiAgent);
  if (agentMode !== undefined) rest["agentMode"] = agentMode;
  if (isObject(rest["context"])) {
    const parts = Object.entries(rest["context"]);
    rest["context"] = Object.fromEntries(parts.map(([key, value]) => [key, modernizeContext(value)]));
  }
  return rest;
}

/** The oldest form: `{ enabled: true }`. */
function toAgentMode(multiAgent: unknown): string | undefined {
  const enabled = isObject(multiAgent) ? multiAgent["enabled"] : undefined;
  if (typeof enabled !== "boolean") return undefined;
  return enabled ? "multi-agent" : "single-agent";
}

function modernizeContext(context: unknown): unknown {
  if (!isObject(context)) return context;
  const named = { ...context };
  for (const [old, name] of Object.entries(OLDER_CONTEXT)) {
    if (!(old in named)) continue;
    named[name] ??= named[old];
    delete named[old];
  }
  return named;
}

/**
 * Lists replace lists, except rules and hooks; an agent or MCP server replaces another; a provider extends a provider of its type.
 */
export function mergeLayer(base: JsonObject, layer: JsonObject): JsonObject {
  const merged = { ...base };
  for (const [key, value] of Object.entries(layer)) {
    const below = base[key];
    if (APPENDED.has(key) && Array.isArray(below) && Array.isArray(value)) merged[key] = [...below, ...value];
    else if (key === "providers") merged[key] = mergeEach(below, value, mergeProvider);
    else if (key === "agents" || key === "mcpServers")
      merged[key] = mergeEach(below, value, (_, agent) => agent);
    else merged[key] = mergeDeep(below, value);
  }
  return merged;
}

function mergeEach(
  base: unknown,
  layer: unknown,
  merge: (below: unknown, value: unknown) => unknown,
): unknown {
  if (!isObject(base) || !isObject(layer)) return layer;
  const merged = { ...base };
  for (const [key, value] of Object.entries(layer)) {
    merged[key] = Object.hasOwn(base, key) ? merge(base[key], value) : value;
  }
  return merged;
}

function mergeProvider(base: unknown, layer: unknown): unknown {
  if (!isObject(base) || !isObject(layer)) return layer;
  if (layer["type"] !== undefined && layer["type"] !== base["type"]) return layer;
  const below = { ...base };
  // An API key in a stronger layer wins, in whichever form it is given.
  if ("apiKey" in layer) delete below["apiKeyEnv"];
  if ("apiKeyEnv" in layer) delete below["apiKey"];
  return mergeDeep(below, layer);
}

function mergeDeep(base: unknown, layer: unknown): unknown {
  if (!isObject(base) || !isObject(layer)) return layer;
  const merged = { ...base };
  for (const [key, value] of Object.entries(layer)) merged[key] = mergeDeep(base[key], value);
  return merged;
}
