// Ids.
import { randomUUID } from "node:crypto";

/** 32 random hexadecimal digits. */
export function makeHexId(): string {
  return randomUUID().replaceAll("-", "");
}

/** The same after `PREFIX_`. */
export function makeId(prefix: string): string {
  return `${prefix}_${makeHexId()}`;
}

/** Unique on this machine, but not secret. Needs no node:crypto, which takes milliseconds to load. */
export function makeLocalId(): string {
  return `${process.pid.toString(36)}-${process.hrtime.bigint().toString(36)}`;
}
