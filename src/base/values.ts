// Reads values of unknown shape, and builds objects without empty fields. Nothing here throws.
//
// A field whose value is unknown is absent: never `undefined` in memory, never `null` on the wire or in the store.
import { isObject, type JsonObject } from "./json.ts";

/** `T` with each field that may be undefined made optional instead. */
export type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** Copies an object without its undefined fields. */
export function defined<T extends object>(fields: T): Defined<T> {
  const kept: Partial<T> = {};
  for (const key in fields) {
    if (fields[key] !== undefined) kept[key] = fields[key];
  }
  return kept as unknown as Defined<T>;
}

/** Copies an object without its null and undefined fields: some agents write `null` for what they do not know. */
export function omitNulls<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], null | undefined> } {
  const kept: { [K in keyof T]?: Exclude<T[K], null | undefined> } = {};
  for (const key in fields) {
    const value = fields[key];
    if (value !== undefined && value !== null) kept[key] = value as Exclude<T[typeof key], null | undefined>;
  }
  return kept;
}

export function asString(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** A string that is not empty. */
export function asText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

export function asNumber(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** A whole number, 0 or more. */
export function asCount(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined;
}

/** The object, or an empty one. */
export function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** The objects of an array; none if it is not one. */
export function asObjects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** The strings of an array; none if it is not one. */
export function asStrings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}
