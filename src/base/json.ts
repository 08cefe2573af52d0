// Parsing of one untrusted JSON line. What it refuses would bite later: nesting that makes JSON.stringify
// throw, keys that reach a prototype, and half characters, which other programs cannot read.
import { CodedError } from "./coded-error.ts";

export type JsonObject = Record<string, unknown>;

export const MAX_DEPTH = 64;
/** Of one line. Millions of tiny values would block us for many seconds where they are checked and passed on. */
export const MAX_VALUES = 50_000;
const LONE_SURROGATE = /\p{Surrogate}/u;
const HALF = "a text holds half a character (a lone surrogate, U+D800 to U+DFFF)";
const FORBIDDEN_KEYS = new Set(["__proto__", "constructor", "prototype"]);

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Parses a line that a client sent; throws `invalid_message` with a text that says what is wrong. */
export function parseUntrusted(text: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new CodedError("invalid_message", `not a JSON value: ${(cause as Error).message}`, { cause });
  }
  if (!isObject(value)) {
    throw new CodedError("invalid_message", "a frame is one JSON object on one line");
  }
  const fault = findFault(value, { wholeCharacters: true, maxValues: MAX_VALUES });
  if (fault !== undefined) throw new CodedError("invalid_message", fault);
  return value;
}

/**
 * Walks with its own stack, because the input may be nested deeper than ours. `wholeCharacters`: a lone surrogate is a
 * fault; Codex neither reads nor answers a line that holds one, so a turn would hang.
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
      // 1e400 parses to Infinity, which no JSON can carry back.
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
  return typeof value === "string" && LONE_SURROGATE.test(value);
}
