// Agents and versions that the last daemon found, kept in the state directory. A hello right after the start is answered
// with them and does not wait for detection.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { toMessage } from "../base/coded-error.ts";
import { isObject } from "../base/json.ts";
import type { Log } from "../base/log.ts";

/** Name → version. */
export type Versions = Record<string, string>;

/** Undefined if there is none, or the file is unusable. */
export function readVersions(file: string): Versions | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(file, "utf8"));
    return isObject(value) && Object.values(value).every((version) => typeof version === "string")
      ? (value as Versions)
      : undefined;
  } catch {
    return undefined; // the first start, or a damaged file
  }
}

export function keepVersions(file: string, versions: Versions, log: Log): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const draft = `${file}.new`;
    writeFileSync(draft, `${JSON.stringify(versions)}\n`, { mode: 0o600 });
    renameSync(draft, file);
  } catch (error) {
    // Costs only a short wait after the next start.
    log.warn("daemon.versions_not_kept", { message: toMessage(error) });
  }
}
