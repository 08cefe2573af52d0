// Names and entries as agents write them.
import { isObject, type JsonObject } from "../base/json.ts";

/** `contextWindowExceeded` → `context_window_exceeded`. */
export function toSnake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export function isObjectEntry(entry: [string, unknown]): entry is [string, JsonObject] {
  return isObject(entry[1]);
}
