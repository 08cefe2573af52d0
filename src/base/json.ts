// Parsing of one untrusted JSON line. What it refuses would bite later: nesting that makes JSON.stringify
// throw, and keys that reach a prototype.
import { CodedError } from "./coded-error.ts";

export type JsonObject = Record<string, unknown>;

export const MAX_DEPTH = 64;
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
  const fault = findFault(value);
  if (fault !== undefined) throw new CodedError("invalid_message", fault);
  return value;
}

/** Walks with its own stack, because the input may be nested deeper than ours. */
export function findFault(root: unknown): string | undefined {
  const stack: unknown[] = [root];
  const depths: number[] = [1];
  while (stack.length > 0) {
    const value = stack.pop();
    const depth = depths.pop() ?? 0;
    if (typeof value !== "object" || value === null) {
      // 1e400 parses to Infinity, which no JSON can carry back.
      if (typeof value === "number" && !Number.isFinite(value)) return "a number is out of range";
      continue;
    }
    if (depth > MAX_DEPTH) return `nested deeper than ${MAX_DEPTH} levels`;
    if (Array.isArray(value)) {
      for (const item of value) {
        stack.push(item);
        depths.push(depth + 1);
      }
      continue;
    }
    for (const key of Object.keys(value)) {
      if (FORBIDDEN_KEYS.has(key)) return `the key "${key}" is not allowed`;
      stack.push((value as JsonObject)[key]);
      depths.push(depth + 1);
    }
  }
  return undefined;
}
