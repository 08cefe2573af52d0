// Reads `<id>.usage.json`: a session row, or the eight fields that older daemons wrote, some of them null.
import type { JsonObject } from "../../base/json.ts";
import { omitNulls } from "../../base/values.ts";
import type { SessionRow } from "../../protocol/session.ts";
import { createDefaultRow } from "../default-row.ts";
import type { FileSystem } from "../disk/file-system.ts";
import { readWhole } from "../disk/whole.ts";
import { toSidecarPath } from "./paths.ts";
import { parseObject } from "./scan.ts";

/** Undefined when there is no file or it is not JSON. A field of the wrong type gets its default. */
export function readSidecar(fs: FileSystem, dir: string, session_id: string): SessionRow | undefined {
  const found = readWhole(fs, toSidecarPath(dir, session_id));
  const value = found === undefined ? undefined : parseObject(found.bytes);
  if (found === undefined || value === undefined) return undefined;
  const known: JsonObject = { ...omitNulls(value), session_id };
  const atMs = Math.trunc(found.mtimeMs);
  for (const [field, fallback] of Object.entries(createDefaultRow({ session_id }, atMs))) {
    if (typeof known[field] !== typeof fallback) delete known[field];
  }
  return createDefaultRow({ ...known, session_id }, atMs);
}
