// Random ids.
import { randomUUID } from "node:crypto";

/** 32 hexadecimal digits. */
export function makeHexId(): string {
  return randomUUID().replaceAll("-", "");
}

/** The same after `PREFIX_`. */
export function makeId(prefix: string): string {
  return `${prefix}_${makeHexId()}`;
}
