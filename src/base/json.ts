// Parses one untrusted JSON line. Refuses what would fail later: nesting that makes JSON.stringify throw, keys that reach a
// prototype, and lone surrogates, which other programs cannot read.
import { CodedError } from "./coded-error.ts";

export type JsonObject = Record<string, unknown>;

export const MAX_DEPTH = 64;
/** Per line. Validating and forwarding millions of tiny values would block us for many seconds. */
export const MAX_VALUES = 50_000;
const HALF = "a string contains a lone surrogate (U+D800 to U+DFFF)";
const FORBIDDEN_KEYS = new Set(["__proto__", "constructor", "prototype"]);

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Undefined: not JSON. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Parses a line from a client; throws `invalid_message` with the reason. */
export function parseUntrusted(text: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new CodedError("invalid_message", `not a JSON value: ${(cause as Error).message}`, { cause });
  }
  if (!isObject(value)) {
    throw new CodedError("invalid_message", "a frame must be one JSON object on one line");
  }
  // Without an escape, strings contain only what the line contains.
  const mayBeHalf = text.includes("\\u") || !text.isWellFormed();
  const fault = findFault(value, { wholeCharacters: mayBeHalf, maxValues: MAX_VALUES });
  if (fault !== undefined) throw new CodedError("invalid_message", fault);
  return value;
}

/**
 * Uses its own stack, because the input may be nested deeper than ours. `wholeCharacters`: refuses lone surrogates. Codex
 * neither reads nor answers a line with one, so a turn would hang.
 */
export function findFault(
  root: unknown,
  { wholeCharacters = false, maxValues = Number.POSITIVE_INFINITY } = {},
): string | undefined {
  let values = 1;
  const stack: unknown[] = [root];
  const depths: number[] = [1];
  while (stack.length > 0) {
    const value = stack.pop();
    const depth = depths.pop() ?? 0;
    if (typeof value !== "object" || value === null) {
      // 1e400 parses to Infinity, which JSON cannot represent.
      if (typeof value === "number" && !Number.isFinite(value)) return "a number is out of range";
      if (wholeCharacters && isHalf(value)) return HALF;
      continue;
    }
    if (depth > MAX_DEPTH) return `nested deeper than ${MAX_DEPTH} levels`;
    const keys = Array.isArray(value) ? undefined : Object.keys(value);
    values += keys?.length ?? (value as unknown[]).length;
    if (values > maxValues) return `more than ${maxValues} values in one message`;
    if (Array.isArray(value)) {
      for (const item of value) {
        stack.push(item);
        depths.push(depth + 1);
      }
      continue;
    }
    for (const key of keys ?? []) {
      if (FORBIDDEN_KEYS.has(key)) return `the key "${key}" is not allowed`;
      if (wholeCharacters && isHalf(key)) return HALF;
      stack.push((value as JsonObject)[key]);
      depths.push(depth + 1);
    }
  }
  return undefined;
}

function isHalf(value: unknown): boolean {
  return typeof value === "string" && !value.isWellFormed();
}
