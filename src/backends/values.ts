// Names and entries as agents write them, and fields of messages for them.
import { CodedError } from "../base/coded-error.ts";
import { isObject, type JsonObject } from "../base/json.ts";

/** `contextWindowExceeded` → `context_window_exceeded`. */
export function toSnake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export function isObjectEntry(entry: [string, unknown]): entry is [string, JsonObject] {
  return isObject(entry[1]);
}

/** `at`: the path of `from` in the message, for the error. */
export function requireString(from: JsonObject, field: string, at: string): string {
  const value = from[field];
  if (typeof value !== "string") throw messageError(`${at}/${field}: expected a string`);
  return value;
}

export function messageError(message: string): CodedError {
  return new CodedError("invalid_message", message);
}
